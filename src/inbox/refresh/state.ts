/** `fresh`: all is as the vendor just said. `partial`: some of it is. `stale`: the vendor gave no answer, so nothing is new. */
export const REFRESH_STATES = ['fresh', 'partial', 'stale'] as const
export type RefreshState = (typeof REFRESH_STATES)[number]
