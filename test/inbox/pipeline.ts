/*
 * The pipeline under test, by purpose. What fails in the world is made to fail at will: D1 trip by trip, the Queue message
 * by message, and time. Everything else is real: the Worker's handlers, D1 and its transactions.
 */
export { advance, stopClock } from '../clock'
export { D1_LOST as LOST, QUEUE_OUT, type Tamper, type Trip, tamperedD1 } from '../harness'
export * from './pipeline/consistent'
export * from './pipeline/cron'
export * from './pipeline/faults'
export * from './pipeline/gocardless'
export * from './pipeline/log'
export * from './pipeline/queue'
export * from './pipeline/rows'
export * from './pipeline/weighed'
export * from './pipeline/world'
