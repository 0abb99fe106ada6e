/** D1 as it is, with what it says of its own cost added up and logged as a line, for requests that ask for it. */
export function counted(db: D1Database, wanted: boolean): { db: D1Database; log: () => void } {
  const cost = { d1_trips: 0, d1_rows_read: 0, d1_rows_written: 0 }
  if (!wanted) return { db, log: () => {} }
  const add = <T extends D1Response>(result: T): T => {
    cost.d1_rows_read += result.meta.rows_read
    cost.d1_rows_written += result.meta.rows_written
    return result
  }
  const real = new Map<object, D1PreparedStatement>()
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const trip = async <T extends D1Response>(work: () => Promise<T>) => {
      cost.d1_trips += 1
      return add(await work())
    }
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: () => trip(() => statement.all()),
      run: () => trip(() => statement.run()),
      first: async () => (await trip(() => statement.all())).results[0] ?? null,
    } as unknown as D1PreparedStatement
    real.set(wrapped, statement)
    return wrapped
  }
  const counting = {
    exec: (sql: string) => db.exec(sql), // by which better-auth knows D1
    prepare: (sql: string) => wrap(db.prepare(sql)),
    batch: async (statements: D1PreparedStatement[]) => {
      cost.d1_trips += 1
      return (await db.batch(statements.map((one) => real.get(one) ?? one))).map(add)
    },
  } as unknown as D1Database
  return { db: counting, log: () => console.log(JSON.stringify({ event: 'counted', ...cost })) }
}
