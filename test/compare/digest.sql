-- All that scripts may change, in one row.
SELECT (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM public.wr x) AS wr,
       (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM public.audit x) AS audit,
       (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM public.ser x) AS ser,
       (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM public.triggered x) AS triggered,
       (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM public.ruled x) AS ruled,
       (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM public.gen x) AS gen,
       (SELECT last_value || ' ' || is_called FROM public.seq) AS seq,
       (SELECT count(*) || ' ' || sum(id) FROM public.t1) AS t1,
       (SELECT count(*) || ' ' || sum(id) FROM public.t2) AS t2,
       (SELECT string_agg('scratch ' || o, ' ' ORDER BY o COLLATE "C")
        FROM (SELECT relname AS o FROM pg_class WHERE relnamespace = 'scratch'::regnamespace
              UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'scratch'::regnamespace
              UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'scratch'::regnamespace AND typname !~ 'pg_toast'
              UNION ALL SELECT oprname FROM pg_operator WHERE oprnamespace = 'scratch'::regnamespace) s WHERE o !~ 'pg_toast') AS made;
