-- people.csv lies in the folder of database `shop`, where a bare name is looked for.
USE shop;
CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40), city VARCHAR(40)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE visitors (id INT PRIMARY KEY, name VARCHAR(40), upper_city VARCHAR(40)) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4;
LOAD DATA INFILE 'people.csv' INTO TABLE people FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\n';
LOAD DATA INFILE 'people.csv' REPLACE INTO TABLE visitors CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' ENCLOSED BY '"'
  IGNORE 1 LINES (id, name, @city) SET upper_city = UPPER(@city);
LOAD DATA INFILE 'people.csv' IGNORE INTO TABLE people FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"';
