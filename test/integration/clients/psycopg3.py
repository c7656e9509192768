"""psycopg 3 through pgweir and directly: prints everything that it is told."""
import logging
import threading
import psycopg

SCHEMA = "cmp_psycopg3"
logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # warnings with addresses in them


def show(*values):
    print(*[repr(v) for v in values])


def attempt(what, call):
    try:
        show(what, call())
    except psycopg.Error as error:
        show(what, type(error).__name__, error.sqlstate, str(error).strip())


def main():
    notices = []
    conn = psycopg.connect("", autocommit=True)
    conn.add_notice_handler(lambda d: notices.append((d.severity, d.message_primary)))
    show(conn.info.encoding, conn.info.parameter_status("server_version"), conn.info.parameter_status("TimeZone"))
    for i in range(5):
        show(conn.execute("SELECT v FROM plain WHERE id = %s", (i + 1,)).fetchone())
    conn.execute("SET client_min_messages = warning")
    conn.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    conn.execute("RESET client_min_messages")
    conn.execute(f"CREATE SCHEMA {SCHEMA}")
    conn.execute(f"SET search_path = {SCHEMA}, public")
    conn.execute("CREATE TABLE t (id int PRIMARY KEY, v text, b bytea, n numeric, a int[], at timestamptz, j jsonb)")
    cur = conn.cursor()
    for i in range(20):
        cur.execute("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s, %s)",
                    (i, f"v{i}", bytes([i] * 5), i / 4, [i, i + 1], "2024-01-01T00:00:00Z", '{"i": %d}' % i))
    show(cur.statusmessage, cur.rowcount)
    for binary in (False, True):
        cur = conn.cursor(binary=binary)
        cur.execute("SELECT * FROM t WHERE id < %s ORDER BY id", (3,))
        show([d.name for d in cur.description], cur.fetchall())
    # The same statement often enough to be prepared, and with prepare=True at once.
    for i in range(12):
        show(conn.execute("SELECT v FROM t WHERE id = %s", (i,)).fetchone())
    show(conn.execute("SELECT v FROM t WHERE n > %s ORDER BY id", (4.5,), prepare=True).fetchall())
    show(conn.execute("SELECT v FROM t WHERE id = %s", (3,), prepare=True).fetchone())
    attempt("division", lambda: conn.execute("SELECT 1/%s::int", (0,)))
    attempt("unique", lambda: conn.execute("INSERT INTO t(id) VALUES (1)"))
    attempt("missing", lambda: conn.execute("SELECT * FROM nowhere"))
    attempt("type", lambda: conn.execute("SELECT v FROM t WHERE id = %s", ("x",)))
    show(conn.execute("SELECT f_notice(%s)", ("hello",)).fetchone(), notices)

    with conn.transaction():
        conn.execute("UPDATE t SET v = 'changed' WHERE id = 1")
        try:
            with conn.transaction():
                conn.execute("UPDATE t SET v = 'inner' WHERE id = 2")
                raise psycopg.Rollback()
        except psycopg.Rollback:
            pass
        show(conn.execute("SELECT id, v FROM t WHERE id < 3 ORDER BY id").fetchall(), conn.info.transaction_status.name)
    show(conn.info.transaction_status.name)

    def failing():
        with conn.transaction():
            conn.execute("SELECT 1/0")
    attempt("in transaction", failing)
    show(conn.execute("SELECT count(*) FROM t").fetchone())

    with conn.transaction():
        with conn.cursor(name="server side") as named:
            named.itersize = 4
            named.execute("SELECT id FROM t ORDER BY id")
            show([row[0] for row in named])
    with conn.cursor() as cur:
        show(list(cur.stream("SELECT id, v FROM t WHERE id < 5 ORDER BY id")))
        cur.executemany("INSERT INTO t(id, v) VALUES (%s, %s)", [(i, f"many {i}") for i in range(100, 120)])
        show(cur.rowcount)
        cur.executemany("SELECT v FROM t WHERE id = %s", [(100,), (101,)], returning=True)
        show(cur.fetchone(), cur.nextset(), cur.fetchone())
        with cur.copy("COPY t(id, v) FROM STDIN") as copy:
            for i in range(200, 230):
                copy.write_row((i, f"copied {i}"))
        show(cur.rowcount)
        with cur.copy("COPY (SELECT id, v FROM t WHERE id BETWEEN 200 AND 204 ORDER BY id) TO STDOUT") as copy:
            show(b"".join(bytes(block) for block in copy))
        with cur.copy("COPY (SELECT id FROM t WHERE id < 3 ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
            show(b"".join(bytes(block) for block in copy))

        def bad_copy():
            with cur.copy("COPY t(id, v) FROM STDIN") as copy:
                copy.write(b"no number\tx\n")
        attempt("bad copy", bad_copy)

        def broken_off():
            with cur.copy("COPY t(id, v) FROM STDIN") as copy:
                copy.write_row((900, "x"))
                raise ValueError("given up")
        try:
            broken_off()
        except (ValueError, psycopg.Error) as error:
            show(type(error).__name__, str(error))
        show(cur.execute("SELECT count(*) FROM t WHERE id = 900").fetchone())

    if psycopg.Pipeline.is_supported():
        with conn.pipeline() as pipeline:
            cursors = [conn.execute("SELECT %s::int + 1", (i,)) for i in range(30)]
            pipeline.sync()
            conn.execute("INSERT INTO t(id, v) VALUES (300, 'pipelined')")
            last = conn.execute("SELECT v FROM t WHERE id = 300")
            show([c.fetchone()[0] for c in cursors], last.fetchone())

        def failing_pipeline():
            with conn.pipeline():
                conn.execute("INSERT INTO t(id, v) VALUES (301, 'lost with the batch')")
                conn.execute("SELECT 1/0")
                conn.execute("INSERT INTO t(id, v) VALUES (302, 'never')")
        attempt("pipeline", failing_pipeline)
        show(conn.execute("SELECT id FROM t WHERE id BETWEEN 301 AND 302").fetchall())

    threading.Timer(0.3, conn.cancel).start()
    attempt("cancel", lambda: conn.execute("SELECT pg_sleep(60)"))
    show(conn.execute("SELECT 'alive'").fetchone())

    conn.execute("LISTEN cmp")
    other = psycopg.connect("", autocommit=True)
    other.execute("NOTIFY cmp, 'payload'")
    for note in conn.notifies():
        show(note.channel, note.payload)
        break
    other.close()

    manual = psycopg.connect("", options=f"-c search_path={SCHEMA} -c work_mem=2MB")
    show(manual.execute("SHOW work_mem").fetchone(), manual.execute("SELECT count(*) FROM t").fetchone())
    manual.execute("DELETE FROM t WHERE id < 10")
    manual.rollback()
    show(manual.execute("SELECT count(*) FROM t WHERE id < 10").fetchone())
    manual.commit()
    manual.read_only = True
    attempt("read only", lambda: manual.execute("INSERT INTO t(id) VALUES (777)"))
    manual.rollback()
    manual.close()
    conn.execute(f"SET client_min_messages = warning; DROP SCHEMA {SCHEMA} CASCADE")
    conn.close()


main()
