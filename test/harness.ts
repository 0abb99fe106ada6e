// What tests share, by purpose.
export * from './harness/call'
export * from './harness/console'
export * from './harness/deliveries'
export type * from './harness/json'
export * from './harness/people'
export * from './harness/stand-ins'
export * from './harness/storage'
