import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { changeOf, sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { flagOrFalse } from '../http/fields'
import { route } from '../http/route'
import { query } from '../http/validate'
import { eraseUser } from './erase'

const EraseQuery = z.strictObject({
  revoke_keys: flagOrFalse.describe(
    'Whether to revoke the API keys that you minted, or whose current secret you were handed, in all of your projects. Otherwise they keep working, as those of any member who leaves.',
  ),
})
/** The deletion of an account. It is here because the user leaves their projects. */
export const eraseRoute = new Hono<HttpEnv>().delete(
  '/user',
  route({
    id: 'eraseUser',
    summary: 'Delete your account',
    description:
      'Removes your address from the service, and ends your sessions. You leave all projects. Pending invitations to you are declined. The audit logs keep your user id, and projects that you have left keep keyed hashes of your address and of your identities, so that single sign-on does not make you a member again. You can sign up again with the same address, as a new user. This cannot be undone. The session must be confirmed. While you are the only owner of a project that is not deleted, the response is 409 `last_owner`.',
    tag: 'Sessions',
    policy: { actors: ['session'], scope: null, project: false, confirmed: true },
    responses: {
      202: {
        description: 'You have left 100 projects, but are still a member of others. Repeat the call to continue.',
      },
      204: { description: 'Deleted. The session has ended.' },
    },
    faults: ['last_owner', 'break_glass_missing', 'passkey_required'],
  }),
  query(EraseQuery),
  async (c) => {
    const erased = await eraseUser(c.get('rt'), sessionOf(c), c.req.valid('query').revoke_keys, changeOf(c))
    return answer(c, null, erased ? 204 : 202)
  },
)
