import { Fault } from '../lib/fault'

/* Faults of this room that several files throw. A new code begins with its line in lib/faults.ts. */

/** The consumer has no such device. */
export const deviceNotFound = () =>
  new Fault('not_found', 'The consumer has no such device. Use the id of the device (dev_…), not its installation id.')
/** The device to change was revoked. */
export const deviceRevoked = (id: string) => new Fault('device_revoked', `The device ${id} was revoked for good.`)
/** The consumer may not get a device or a token. */
export const consumerBlocked = (id: string) =>
  new Fault('consumer_blocked', `The consumer ${id} is blocked. Unblock it first.`)
/** The tokens of the device have changed since the call read them. */
export const tokenConflict = () =>
  new Fault('rotation_conflict', 'Another call rotated or revoked this device. Read it again.')
