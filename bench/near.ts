/*
 * A module around a Worker, and around repeated.ts, that has bindings answer in its own isolate, for what they cost to be
 * seen: those that the X-Near header names ("limiter,queue,db"), else those given here.
 */
export type Near = 'limiter' | 'queue' | 'db'

export const nearModule = (standing: readonly Near[]): string => `
import own from './repeated.js'

const STANDING = ${JSON.stringify(standing.join())}
const known = new WeakMap()

function changed(env, names) {
  if (names === '') return env
  const variants = known.get(env) ?? new Map()
  known.set(env, variants)
  if (!variants.has(names)) variants.set(names, variant(env, names.split(',')))
  return variants.get(names)
}

function variant(env, names) {
  const replaced = ([name, value]) => {
    if (names.includes('limiter') && name.startsWith('LIMIT')) return [name, { limit: async () => ({ success: true }) }]
    if (names.includes('queue') && name === 'EVENTS') return [name, { send: async () => {}, sendBatch: async () => {} }]
    if (names.includes('db') && name === 'DB') return [name, remembering(value)]
    return [name, value]
  }
  return Object.fromEntries(Object.entries(env).map(replaced))
}

// What D1 said to a statement the first time, it says again.
function remembering(db) {
  const said = new Map()
  const answer = async (key, ask) => {
    if (!said.has(key)) said.set(key, await ask())
    return said.get(key)
  }
  const real = new WeakMap()
  const wrap = (sql, statement) => {
    const wrapped = {
      sql,
      bind: (...values) => wrap(sql, statement.bind(...values)),
      all: () => answer(sql, () => statement.all()),
    }
    real.set(wrapped, statement)
    return wrapped
  }
  return {
    prepare: (sql) => wrap(sql, db.prepare(sql)),
    batch: async (all) => {
      const results = await answer(all.map(({ sql }) => sql).join(), () => db.batch(all.map((one) => real.get(one))))
      return [...results]
    },
  }
}

export default {
  fetch: (request, env, ctx) => own.fetch(request, changed(env, request.headers.get('X-Near') ?? STANDING), ctx),
  queue: (batch, env, ctx) => own.queue(batch, changed(env, STANDING), ctx),
}
`
