const schemaName = /^[a-z_][\w$]{0,62}$/i;

/**
 * The schema of Postgres that has the tables: what `DATABASE_URL` names as `?schema=`, as Prisma's addresses do, else `public`. Where
 * the search path of the role leads is not asked: statements that name a schema and those that do not would mean different tables.
 * @throws Error for what is no plain name
 */
export function schemaOf(databaseUrl: string): string {
  const schema = URL.parse(databaseUrl)?.searchParams.get('schema') ?? 'public';
  if (!schemaName.test(schema))
    throw new Error('names a schema (?schema=) that is not letters, digits, `_` and `$`');
  return schema;
}
