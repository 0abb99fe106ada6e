import * as z from 'zod'
import { exampleOf, named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'

export const UserShown = named('User', z.object({ id: z.string(), email: z.string() }), {
  id: SAMPLE.user,
  email: SAMPLE.email,
})

/** A session that was just opened, with its token. */
export const StartedSession = named(
  'StartedSession',
  z.object({ token: z.string(), expires_at: timestamp, user: UserShown }),
  {
    token: 'svc_cs_… and 64 hexadecimal characters',
    expires_at: SAMPLE.end,
    user: exampleOf(UserShown),
  },
)
