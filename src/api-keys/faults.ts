import { Fault } from '../lib/fault'

/* Faults of this room that several files throw. A new code begins with its line in lib/faults.ts. */

const REVOKED = 'This API key was revoked. Mint a new one.'
const EXPIRED = 'This API key has expired. Mint a new one.'

/** The key that makes the call was revoked. */
export const keyRevoked = () => new Fault('key_revoked', REVOKED)
/** The project of the key that makes the call is deleted. If an owner restores it, the key works again. */
export const projectDeleted = () => new Fault('key_revoked', 'The project of this API key was deleted.')
/** The key that makes the call has expired. */
export const keyExpired = () => new Fault('key_expired', EXPIRED)
/** The secret that makes the call was replaced by a rotation. */
export const keyRotated = () => new Fault('key_rotated', 'Use the secret that the rotation returned.')
/** The key to rotate was revoked. */
export const rotationOfRevoked = () => new Fault('rotation_of_revoked_key', REVOKED)
/** The key to rotate has expired. */
export const rotationOfExpired = () => new Fault('rotation_of_expired_key', EXPIRED)
