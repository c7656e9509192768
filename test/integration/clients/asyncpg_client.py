"""asyncpg through pgweir and directly: prints everything that it is told."""
import asyncio
import os
import asyncpg

SCHEMA = "cmp_asyncpg"


def show(*values):
    print(*[repr(v) for v in values])


async def attempt(what, awaitable):
    try:
        show(what, await awaitable)
    except asyncpg.PostgresError as error:
        show(what, type(error).__name__, error.sqlstate, str(error))


async def main():
    target = dict(host=os.environ["PGHOST"], port=int(os.environ["PGPORT"]), user=os.environ["PGUSER"],
                  database=os.environ["PGDATABASE"], ssl=False)
    conn = await asyncpg.connect(**target)
    for i in range(5):
        show(await conn.fetchval("SELECT v FROM plain WHERE id = $1", i + 1))
    await conn.execute(f"SET client_min_messages = warning; DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; "
                       f"RESET client_min_messages; CREATE SCHEMA {SCHEMA}")
    await conn.execute(f"SET search_path = {SCHEMA}, public")
    await conn.execute("CREATE TYPE colour AS ENUM ('red', 'green')")
    await conn.execute("CREATE TYPE pair AS (a int, b text)")
    await conn.execute("CREATE TABLE t (id int PRIMARY KEY, v text, n numeric, at timestamptz, c colour, p pair, a int[])")
    await conn.executemany("INSERT INTO t(id, v, n, c, a) VALUES ($1, $2, $3, $4, $5)",
                           [(i, f"v{i}", i, "red" if i % 2 else "green", [i, None]) for i in range(50)])
    show(await conn.fetch("SELECT id, v, n, c, a FROM t WHERE id < $1 ORDER BY id", 4))
    show(await conn.fetchrow("SELECT * FROM t WHERE id = $1", 7))
    show(await conn.fetchval("SELECT count(*) FROM t"))
    show(await conn.execute("UPDATE t SET v = $2 WHERE id = $1", 1, "changed"))
    await attempt("row", conn.fetchval("SELECT row(1, 'x')::pair"))
    statement = await conn.prepare("SELECT v FROM t WHERE id = $1")
    show([p.name for p in statement.get_parameters()], [a.name for a in statement.get_attributes()])
    for i in range(20):
        show(await statement.fetchval(i))
    await attempt("division", conn.fetchval("SELECT 1/$1::int", 0))
    await attempt("missing", conn.fetchval("SELECT * FROM nowhere"))
    await attempt("unique", conn.execute("INSERT INTO t(id) VALUES (1)"))
    await attempt("multi", conn.execute("SELECT 1; SELECT 1/0"))
    async with conn.transaction():
        await conn.execute("DELETE FROM t WHERE id >= 40")
        try:
            async with conn.transaction():
                await conn.execute("DELETE FROM t")
                raise RuntimeError("back")
        except RuntimeError as error:
            show(str(error), await conn.fetchval("SELECT count(*) FROM t"))
        ids = []
        async for record in conn.cursor("SELECT id FROM t ORDER BY id", prefetch=6):
            ids.append(record["id"])
        show(ids)
        cursor = await conn.cursor("SELECT id FROM t ORDER BY id")
        show(await cursor.fetch(3), await cursor.forward(5), await cursor.fetchrow())
    async with conn.transaction(readonly=True, isolation="repeatable_read"):
        show(await conn.fetchval("SELECT count(*) FROM t"))
        await attempt("read only", conn.execute("INSERT INTO t(id) VALUES (1000)"))
    show(await conn.copy_records_to_table("t", schema_name=SCHEMA, columns=["id", "v"],
                                          records=[(i, f"r{i}") for i in range(500, 700)]))
    chunks = []

    async def collect(data):
        chunks.append(data)
    show(await conn.copy_from_query("SELECT id, v FROM t WHERE id BETWEEN $1 AND $2 ORDER BY id", 500, 503,
                                    output=collect), b"".join(chunks))
    try:
        await asyncio.wait_for(conn.execute("SELECT pg_sleep(60)"), timeout=0.3)
    except asyncio.TimeoutError:
        show("timed out")
    show(await conn.fetchval("SELECT 'alive'"))
    got = asyncio.get_running_loop().create_future()
    await conn.add_listener("cmp_async", lambda c, pid, channel, payload: got.done() or got.set_result((channel, payload)))
    await conn.execute("SELECT pg_notify('cmp_async', 'payload')")
    show(await asyncio.wait_for(got, 30))
    await conn.reset()
    show(await conn.fetchval("SHOW search_path"))
    async with asyncpg.create_pool(min_size=2, max_size=5, server_settings={"search_path": SCHEMA}, **target) as pool:
        async def one(i):
            async with pool.acquire() as c:
                return await c.fetchval("SELECT v FROM t WHERE id = $1", i % 40)
        show(await asyncio.gather(*[one(i) for i in range(100)]))
    await conn.execute(f"SET client_min_messages = warning; DROP SCHEMA {SCHEMA} CASCADE")
    await conn.close()


asyncio.run(main())
