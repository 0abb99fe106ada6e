import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { notPending } from '../../../members/invitations'
import { acceptInvitation, declineInvitation, findOwn, requireAnswered } from '../../../members/own-invitations'
import { action } from '../../action'
import { page, type Visit } from '../../page'
import { projectPaths } from '../../paths'
import { EXPLAINED, type Refusal, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { invitationPage, notYoursPage } from './invitation'

const accept = action({
  posts: '/:id/accept',
  needs: 'user',
  run: async (c) => {
    const { directory, now } = c.get('rt')
    const found = await acceptInvitation(directory, c.req.param('id') ?? '', userOf(c), changeOf(c))
    const { project, own_role } = requireAnswered(found, now, 'accepted')
    // A user who has left or was removed since cannot come back with it.
    if (own_role === null) throw notPending('accepted')
    return project
  },
  done: (_, { id }) => [projectPaths(id).start, 'invitation_accepted'],
  again: showOwn,
  explains: EXPLAINED.invitation,
})

const decline = action({
  posts: '/:id/decline',
  needs: 'user',
  run: async (c) => {
    const { directory, now } = c.get('rt')
    const found = await declineInvitation(directory, c.req.param('id') ?? '', userOf(c), changeOf(c))
    requireAnswered(found, now, 'declined')
  },
  done: () => ['/console', 'invitation_declined'],
  again: showOwn,
  explains: EXPLAINED.invitation,
})

/** The invitations to the signed-in address, in any project. */
export const invitationPages = new Hono<HttpEnv>()
  .get('/:id', page('user'), (c) => showOwn(c, UNSENT))
  .route('/', accept)
  .route('/', decline)

async function showOwn(c: Visit, refusal: Refusal) {
  const { directory } = c.get('rt')
  const [row] = await run(directory, findOwn(directory, c.req.param('id') ?? '', userOf(c)))
  return row ? invitationPage(c, row, refusal) : notYoursPage(c)
}
