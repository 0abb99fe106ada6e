/** A module around the Worker that counts what it asks of D1, KV and the Queue, and lets it through. */
export const COUNTING = `
import own from './index.js'
const counts = { requests: 0, batches: 0, kv_reads: 0, kv_writes: 0, queue_operations: 0, rows_read: 0, rows_written: 0, sql_ms: 0, open: 0 }
const known = new WeakMap()
function add(result) {
  counts.rows_read += result.meta.rows_read
  counts.rows_written += result.meta.rows_written
  counts.sql_ms += result.meta.duration
  return result
}
const wrap = (statement) => ({
  statement,
  bind: (...values) => wrap(statement.bind(...values)),
  all: async () => add(await statement.all()),
  first: () => statement.first(),
})
const chunks = (body) => Math.ceil((JSON.stringify(body).length + 100) / 64000)
function counted(env) {
  let wrapped = known.get(env)
  if (wrapped) return wrapped
  const count = (name, work) => (...args) => { counts[name] += 1; return work(...args) }
  wrapped = {
    ...env,
    DB: {
      prepare: (sql) => wrap(env.DB.prepare(sql)),
      batch: async (statements) => (await env.DB.batch(statements.map((one) => one.statement))).map(add),
    },
    KV: { get: count('kv_reads', (...a) => env.KV.get(...a)), put: count('kv_writes', (...a) => env.KV.put(...a)) },
    EVENTS: {
      send: (body, options) => { counts.queue_operations += chunks(body); return env.EVENTS.send(body, options) },
      sendBatch: (messages, options) => {
        for (const { body } of messages) counts.queue_operations += chunks(body)
        return env.EVENTS.sendBatch(messages, options)
      },
      metrics: () => env.EVENTS.metrics?.(),
    },
  }
  known.set(env, wrapped)
  return wrapped
}
export default {
  fetch(request, env, ctx) {
    if (new URL(request.url).pathname === '/counts') return Response.json(counts)
    counts.requests += 1
    const waits = { waitUntil: (work) => { counts.open += 1; ctx.waitUntil(work.finally(() => { counts.open -= 1 })) }, passThroughOnException() {} }
    return own.fetch(request, counted(env), waits)
  },
  queue(batch, env, ctx) {
    counts.requests += 1
    counts.batches += 1
    // Each message is read once, and deleted once it is done with.
    for (const { body } of batch.messages) counts.queue_operations += 2 * chunks(body)
    return own.queue(batch, counted(env), ctx)
  },
  scheduled: (controller, env, ctx) => own.scheduled(controller, counted(env), ctx),
}
`
