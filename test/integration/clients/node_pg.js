// node-postgres through pgweir and directly: prints everything that it is told.
'use strict';
const { Client, Pool } = require('pg');
const SCHEMA = 'cmp_node';
const show = (...values) => console.log(JSON.stringify(values));

async function attempt(client, what, ...query) {
  try {
    const result = await client.query(...query);
    const one = (r) => [r.command, r.rowCount, r.fields && r.fields.map((f) => f.name), r.rows];
    show(what, Array.isArray(result) ? result.map(one) : one(result));
  } catch (error) {
    show(what, error.code, error.message, error.severity, error.detail, error.hint, error.position);
  }
}

async function main() {
  const client = new Client();
  const notices = [];
  client.on('notice', (n) => notices.push([n.severity, n.message]));
  await client.connect();
  for (let i = 1; i <= 5; i++) await attempt(client, 'read', 'SELECT v FROM plain WHERE id = $1', [i]);
  await client.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE; RESET client_min_messages`);
  await client.query(`CREATE SCHEMA ${SCHEMA}`);
  await client.query(`SET search_path = ${SCHEMA}, public`);
  await client.query('CREATE TABLE t (id int PRIMARY KEY, v text, j jsonb, b bytea)');
  for (let i = 0; i < 20; i++) {
    await client.query('INSERT INTO t VALUES ($1, $2, $3, $4)', [i, 'v' + i, { i }, Buffer.from([i, i])]);
  }
  await attempt(client, 'simple', 'SELECT id, v FROM t WHERE id < 3 ORDER BY id');
  await attempt(client, 'parameters', 'SELECT * FROM t WHERE id = $1', [7]);
  await attempt(client, 'array mode', { text: 'SELECT id, v FROM t WHERE id > $1 ORDER BY id', values: [17], rowMode: 'array' });
  for (let i = 0; i < 10; i++) {
    await attempt(client, 'named', { name: 'get row', text: 'SELECT v FROM t WHERE id = $1', values: [i] });
  }
  await attempt(client, 'rows', { text: 'SELECT id FROM t ORDER BY id', rows: 4 });
  await attempt(client, 'multi', 'SELECT 1 AS a; SELECT 2 AS b; SELECT count(*) FROM t');
  await attempt(client, 'syntax', 'SELEKT 1');
  await attempt(client, 'division', 'SELECT 1/$1::int', [0]);
  await attempt(client, 'unique', 'INSERT INTO t(id) VALUES ($1)', [1]);
  await attempt(client, 'notice', "SELECT f_notice('node')");
  show(notices);
  await attempt(client, 'begin', 'BEGIN');
  await attempt(client, 'update', 'UPDATE t SET v = $1 WHERE id = 1', ['changed']);
  await attempt(client, 'read it', 'SELECT v FROM t WHERE id = 1');
  await attempt(client, 'error', 'SELECT * FROM nowhere');
  await attempt(client, 'aborted', 'SELECT 1');
  await attempt(client, 'rollback', 'ROLLBACK');
  await attempt(client, 'as before', 'SELECT v FROM t WHERE id = 1');
  // Queued without waiting for one another.
  show(await Promise.all([...Array(30).keys()].map(async (i) => (await client.query('SELECT $1::int + 1 AS n', [i])).rows[0].n)));
  const heard = new Promise((resolve) => client.on('notification', (n) => resolve([n.channel, n.payload])));
  await client.query('LISTEN cmp_node');
  await client.query("SELECT pg_notify('cmp_node', 'payload')");
  show(await heard);
  const pool = new Pool({ max: 5, options: `-c search_path=${SCHEMA}` });
  show(await Promise.all([...Array(60).keys()].map(async (i) => (await pool.query('SELECT v FROM t WHERE id = $1', [i % 20])).rows)));
  await pool.end();
  await client.query(`SET client_min_messages = warning; DROP SCHEMA ${SCHEMA} CASCADE`);
  await client.end();
}

main().catch((error) => { show('failed', error.code, error.message); process.exit(1); });
