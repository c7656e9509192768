# libpg_query ships no pkg-config file; its protobuf-c header lies in pg_query/ and needs libprotobuf-c-dev.
# Debian 12 has the PostgreSQL 15 grammar, Debian 13 that of 17.
find_path(PgQuery_INCLUDE_DIR pg_query.h)
find_path(PgQuery_PROTOBUF_DIR pg_query.pb-c.h PATH_SUFFIXES pg_query)
find_library(PgQuery_LIBRARY pg_query)
find_path(ProtobufC_INCLUDE_DIR protobuf-c/protobuf-c.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PgQuery REQUIRED_VARS PgQuery_LIBRARY PgQuery_INCLUDE_DIR PgQuery_PROTOBUF_DIR
                                  ProtobufC_INCLUDE_DIR)
if(PgQuery_FOUND AND NOT TARGET PgQuery::PgQuery)
  add_library(PgQuery::PgQuery UNKNOWN IMPORTED)
  set_target_properties(PgQuery::PgQuery PROPERTIES IMPORTED_LOCATION "${PgQuery_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PgQuery_INCLUDE_DIR};${PgQuery_PROTOBUF_DIR};${ProtobufC_INCLUDE_DIR}")
endif()
