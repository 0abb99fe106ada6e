import { Fault } from '../lib/fault'
import { NEW_SECRET_WAITS } from '../lib/rotation'
import { DAY } from '../lib/time'

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
/** The secret that makes the call was handed out by a rotation and not used in time. */
export const neverUsed = () =>
  new Fault(
    'key_rotated',
    `This secret was not used within ${NEW_SECRET_WAITS / DAY} days of the rotation that returned it, so it never became current. Use the current secret, or rotate the API key again.`,
  )
/** The secret that would rotate a key is not the current one of its own key. */
export const rotatedByOther = () =>
  new Fault(
    'key_rotated',
    'This secret was replaced by a rotation. It works for a while, but it cannot rotate API keys. Use the secret that the rotation returned.',
  )
/** The key works only in other networks than the one the call comes from. @param address null if it is not known */
export const networkNotAllowed = (
  address: string | null,
  elsewhere: { id: string; project_id: string; networks: readonly string[] },
) =>
  new Fault(
    'network_not_allowed',
    `This API key may not be used from ${address ?? 'an unknown address'}. Add the network to the key's allowed_networks with a console session, or send the request from another one.`,
    { elsewhere },
  )
/** A key that makes the call would shut itself out with it. */
export const wouldLockOut = (address: string | null) =>
  new Fault(
    'would_lock_out',
    `You are calling from ${address ?? 'an unknown address'}, which is in none of the networks. The API key would stop working from there, and could not change this back. To do it anyway, send confirm: true.`,
  )
/** The call would let a key do more than the API key that makes it. */
export const onlyNarrower = () =>
  new Fault(
    'console_session_required',
    'An API key can only remove networks and lower the limit. Use the Bearer token of a console session.',
  )
/** The key to rotate was revoked. */
export const rotationOfRevoked = () => new Fault('rotation_of_revoked_key', REVOKED)
/** The key that the call is about has other secrets now than when it was read. */
export const rotationConflict = () =>
  new Fault('rotation_conflict', 'Another call rotated or revoked this API key. Read it again.')
/** The key to rotate has expired. */
export const rotationOfExpired = () => new Fault('rotation_of_expired_key', EXPIRED)
