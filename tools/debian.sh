# What the scripts beside it share, which source it: the cache folder, and commands as root.
cache=${BINSPARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/binspark}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
can_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

# Install packages, without what they only recommend.
install_debian() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
