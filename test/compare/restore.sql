-- Brings back the data that a script may have changed; the schema "scratch" is made anew by world.cc.
TRUNCATE public.wr, public.audit, public.ser, public.triggered, public.ruled, public.gen RESTART IDENTITY;
ALTER SEQUENCE public.seq RESTART;
INSERT INTO public.wr SELECT i, 'w' || i, i * 10 FROM generate_series(1, 8) i;
INSERT INTO public.ruled VALUES (1, 'r');
INSERT INTO public.triggered VALUES (1, 't');
TRUNCATE public.audit;
