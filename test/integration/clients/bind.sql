-- psql's extended protocol; needs psql 16.
\pset null '(null)'
SELECT $1::int + $2::int AS sum \bind 1 2 \g
SELECT v FROM plain WHERE id = $1 \bind 7 \g
SELECT v FROM plain WHERE id = $1 \bind x \g
SELECT $1::text, $2::text \bind 'a b' '' \g
SELECT 1/$1::int \bind 0 \g
BEGIN \bind \g
SELECT count(*) FROM plain WHERE id < $1 \bind 10 \g
COMMIT \bind \g
SELECT count(*) FROM plain;
