import * as z from 'zod'
import { named } from '../http/fields'

/** A user or an API key that holds something or did something. */
export const Holder = z.object({ type: named('HolderType', z.enum(['user', 'api_key'])), id: z.string() })

/** The prefix of an id says what it names. */
export function holderOf(id: string): z.infer<typeof Holder> {
  return { type: id.startsWith('key_') ? 'api_key' : 'user', id }
}
