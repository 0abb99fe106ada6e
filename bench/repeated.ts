/*
 * A module around a Worker, for a floor of its reads: what a request asks of D1 is kept under the name in its X-Record header,
 * and a request with this name in X-Repeat sends the same statements and answers with their rows. Nothing is checked or derived.
 */
export const REPEATED = `
import own from './index.js'

const kept = new Map()

/** Keeps each call of D1 as a list of statements. */
function recording(db, calls) {
  const real = new WeakMap()
  const wrap = (sql, statement, values = []) => {
    const wrapped = {
      sql,
      values,
      bind: (...bound) => wrap(sql, statement.bind(...bound), bound),
      all: () => (calls.push([wrapped]), statement.all()),
    }
    real.set(wrapped, statement)
    return wrapped
  }
  return {
    prepare: (sql) => wrap(sql, db.prepare(sql)),
    batch: (all) => (calls.push(all), db.batch(all.map((one) => real.get(one)))),
  }
}

async function repeat(calls, { DB, LIMIT_CREDENTIAL }, isCounted) {
  await LIMIT_CREDENTIAL.limit({ key: 'repeated' })
  const answers = []
  for (const call of calls) answers.push(await DB.batch(call.map(({ sql, values }) => DB.prepare(sql).bind(...values))))
  const all = answers.flat()
  const sum = (name) => all.reduce((total, { meta }) => total + meta[name], 0)
  const cost = { d1_trips: calls.length, d1_rows_read: sum('rows_read'), d1_rows_written: sum('rows_written') }
  if (isCounted) console.log(JSON.stringify({ event: 'counted', ...cost }))
  return Response.json(all.map(({ results }) => results))
}

export default {
  async fetch(request, env, ctx) {
    const name = request.headers.get('X-Repeat')
    if (name !== null) return repeat(kept.get(name), env, request.headers.has('X-Count'))
    const recorded = request.headers.get('X-Record')
    if (recorded === null) return own.fetch(request, env, ctx)
    const calls = []
    kept.set(recorded, calls)
    return own.fetch(request, { ...env, DB: recording(env.DB, calls) }, ctx)
  },
  queue: (batch, env, ctx) => own.queue(batch, env, ctx),
}
`
