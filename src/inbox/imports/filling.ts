import type { Db } from '../../db/client'
import { MAX_STORE_BYTES } from '../../stores/limits'
import { FILLING_SHARE } from './limits'

/** Whether a database is so full that what is read from vendors waits: deliveries need the rest. */
export function isFilling({ meter }: Db): boolean {
  return (meter.size_bytes ?? 0) >= FILLING_SHARE * MAX_STORE_BYTES
}
