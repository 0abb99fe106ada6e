import { HOUR } from '../lib/time'

/** Characters of an installation id. */
export const MAX_INSTALLATION_ID = 128

/** Characters (code points) of each of the texts that describe a device. */
export const MAX_DEVICE_TEXT = 100

/** Scopes of a device, and scopes that a verification requires. */
export const MAX_DEVICE_SCOPES = 20
/** Characters of a scope of a device. */
export const MAX_DEVICE_SCOPE = 50

/** Bytes of a device's metadata, as JSON. */
export const MAX_DEVICE_METADATA_BYTES = 1_024

/** Characters of a token in a body: room for one that is not ours, which is answered and not refused. */
export const MAX_TOKEN = 1_000

/** Time between two writes of `last_seen_at` of a device (ms). */
export const LAST_SEEN_EVERY = HOUR

/** Devices that one registration can revoke to make room. */
export const MAX_REPLACED = 20
