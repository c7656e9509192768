"""psycopg2 through pgweir and directly: prints everything that it is told."""
import io
import psycopg2
import psycopg2.extensions
import psycopg2.extras

SCHEMA = "cmp_psycopg2"


def show(*values):
    print(*[repr(v) for v in values])


def attempt(what, cur, *args):
    try:
        cur.execute(*args)
        show(what, cur.statusmessage, cur.fetchall() if cur.description else None)
    except psycopg2.Error as error:
        show(what, type(error).__name__, error.pgcode, str(error).strip(), error.diag.message_detail)


def main():
    conn = psycopg2.connect("")
    show(conn.encoding, conn.server_version, conn.get_parameter_status("DateStyle"))
    conn.autocommit = True
    cur = conn.cursor()
    for i in range(5):
        cur.execute("SELECT v FROM plain WHERE id = %s", (i + 1,))
        show(cur.fetchone())
    cur.execute(f"SET client_min_messages = warning; DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; RESET client_min_messages")
    cur.execute(f"CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA}, public")
    cur.execute("CREATE TABLE t (id serial PRIMARY KEY, v text, d date, a text[])")
    psycopg2.extras.execute_values(cur, "INSERT INTO t(v, d, a) VALUES %s RETURNING id",
                                   [(f"v{i}", "2024-01-01", ["a", str(i)]) for i in range(50)], page_size=20)
    show(cur.fetchall())
    cur.execute("SELECT * FROM t WHERE id <= %s ORDER BY id", (3,))
    show([d.name for d in cur.description], cur.fetchall(), cur.rowcount)
    attempt("syntax", cur, "SELEKT 1")
    attempt("unique", cur, "INSERT INTO t(id) VALUES (1)")
    attempt("multi", cur, "SELECT 1; SELECT 2; INSERT INTO t(v) VALUES ('multi')")
    attempt("multi error", cur, "INSERT INTO t(v) VALUES ('undone'); SELECT 1/0")
    attempt("undone", cur, "SELECT count(*) FROM t WHERE v = 'undone'")
    attempt("notice", cur, "SELECT f_notice('there')")
    show(conn.notices)
    conn.autocommit = False
    attempt("in transaction", cur, "UPDATE t SET v = 'x' WHERE id = 1 RETURNING v")
    show(conn.get_transaction_status() == psycopg2.extensions.TRANSACTION_STATUS_INTRANS)
    attempt("broken", cur, "SELECT 1/0")
    attempt("still broken", cur, "SELECT 1")
    conn.rollback()
    attempt("rolled back", cur, "SELECT v FROM t WHERE id = 1")
    conn.commit()
    conn.set_session(isolation_level="REPEATABLE READ", readonly=True)
    attempt("isolation", cur, "SHOW transaction_isolation")
    attempt("read only", cur, "INSERT INTO t(v) VALUES ('no')")
    conn.rollback()
    conn.set_session(isolation_level="DEFAULT", readonly=False)
    named = conn.cursor("named cursor")
    named.itersize = 7
    named.execute("SELECT id FROM t ORDER BY id")
    show([row[0] for row in named])
    named.close()
    conn.commit()
    cur.copy_expert("COPY t(v) FROM STDIN", io.StringIO("\n".join(f"copied {i}" for i in range(100)) + "\n"))
    show(cur.rowcount)
    out = io.StringIO()
    cur.copy_expert("COPY (SELECT v FROM t WHERE v LIKE 'copied _' ORDER BY v) TO STDOUT", out)
    show(out.getvalue())
    conn.commit()
    psycopg2.extras.execute_batch(cur, "UPDATE t SET v = %s WHERE id = %s", [(f"b{i}", i) for i in range(1, 30)])
    conn.commit()
    attempt("batch", cur, "SELECT v FROM t WHERE id < 5 ORDER BY id")
    conn.rollback()
    # Two-phase commit where the server allows it, the same refusal where not.
    try:
        conn.tpc_begin(conn.xid(1, "cmp psycopg2", "branch"))
        cur.execute("INSERT INTO t(v) VALUES ('prepared')")
        conn.tpc_prepare()
        conn.tpc_rollback()
    except psycopg2.Error as error:
        show(error.pgcode, str(error).strip())
        conn.tpc_rollback()
    conn.set_client_encoding("LATIN1")
    attempt("latin1", cur, "SELECT 'é'::text, length('é')")
    conn.commit()
    conn.reset()
    conn.autocommit = True
    attempt("path is reset", cur, "SHOW search_path")
    reads = []
    for i in range(200):
        cur.execute("SELECT v FROM public.plain WHERE id = %s", (i % 100 + 1,))
        reads += cur.fetchone()
    show(len(reads), reads[:3])
    cur.execute(f"SET client_min_messages = warning; DROP SCHEMA {SCHEMA} CASCADE")
    conn.close()


main()
