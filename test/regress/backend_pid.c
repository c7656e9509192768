/* Preloaded into isolationtester: the pid of a session's server process, asked of the server itself. */
#include <libpq-fe.h>
#include <stdlib.h>

int PQbackendPID(const PGconn *connection)
{
	PGresult *result = PQexec((PGconn *) connection, "SELECT pg_catalog.pg_backend_pid()");
	int pid = PQresultStatus(result) == PGRES_TUPLES_OK ? atoi(PQgetvalue(result, 0, 0)) : 0;

	PQclear(result);
	return pid;
}
