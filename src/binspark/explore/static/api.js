// Questions to the server, with the token of this page's address.
const token = new URLSearchParams(location.search).get("token") ?? "";

export async function ask(name, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const response = await fetch(`api/${name}?${new URLSearchParams(given)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `the server answered ${response.status}`);
  return answer;
}
