import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { requireScopes } from '../http/policy'
import { read } from '../http/read'
import { route } from '../http/route'
import { query } from '../http/validate'
import {
  afterField,
  ChangesPage,
  limitField,
  mayRead,
  mayReadAll,
  presentChanges,
  readAfter,
  typesField,
} from './fields'
import { changesPage, selectChanges } from './read'
import { CHANGE_TYPES, type ChangeType } from './types'

export const changeRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'listChanges',
    summary: 'Follow the changes of the project',
    description:
      'Oldest first and without gaps. Pass `next` as `after` in the next call. A change names its object and the fields that changed, but has no values: read the object. Each change needs the scope that reads its object. If `types` names a type and you do not have its scope, the call gets 403. Without `types`, changes that you may not read are left out.',
    tag: 'Changes',
    policy: { actors: ['session', 'api_key'], scope: null, project: true, reads: true },
    responses: { 200: { description: 'The changes after a position.', schema: ChangesPage } },
    faults: ['invalid_cursor', 'cursor_expired', 'insufficient_scope', 'insufficient_role'],
  }),
  query(z.strictObject({ after: afterField, types: typesField, limit: limitField })),
  async (c) => {
    const { after, types, limit } = c.req.valid('query')
    const asked = {
      after: readAfter(after),
      limit,
      filtered: types !== undefined || !mayReadAll(c.get('actor').scopes),
    }
    const found = await read(c, selectChanges(c.get('rt').db, projectOf(c.get('actor')), asked))
    // Only now the caller's credentials are known to be good.
    const actor = c.get('actor')
    if (types)
      requireScopes(
        actor,
        [...types].map((type) => CHANGE_TYPES[type].scope),
      )
    const shows = ({ type }: { type: string }) =>
      (types === undefined || types.has(type as ChangeType)) && mayRead(actor.scopes, type)
    return answer(c, presentChanges(changesPage(found, { ...asked, shows })), 200)
  },
)
