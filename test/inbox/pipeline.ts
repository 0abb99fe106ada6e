/*
 * The pipeline under test, by purpose. What fails in the world is made to fail at will: D1 trip by trip, the Queue message
 * by message, and time. Everything else is real: the Worker's handlers, D1 and its transactions.
 */
export * from './pipeline/clock'
export * from './pipeline/consistent'
export * from './pipeline/faults'
export * from './pipeline/gocardless'
export * from './pipeline/log'
export * from './pipeline/queue'
export * from './pipeline/rows'
export * from './pipeline/world'
