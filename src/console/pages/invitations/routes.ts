import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { requireAnswered } from '../../../members/answer'
import { notPending } from '../../../members/faults'
import { acceptInvitation, declineInvitation, findOwn } from '../../../members/own-store'
import { page } from '../../page'
import { projectPaths } from '../../paths'
import { type Refusal, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { invitationPage, notYoursPage } from './invitation'

/** The invitations to the signed-in address, in any project. */
export const invitationPages = new Hono<HttpEnv>()
  .get('/:id', page('user'), (c) => showOwn(c, UNSENT))
  .post('/:id/accept', page('user'), async (c) => {
    const { directory, now } = c.get('rt')
    try {
      const found = await acceptInvitation(directory, c.req.param('id'), userOf(c), changeOf(c))
      const { project, own_role } = requireAnswered(found, now, 'accepted')
      // A user who has left or was removed since cannot come back with it.
      if (own_role === null) throw notPending('accepted')
      return c.redirect(`${projectPaths(project.id).start}?done=invitation_accepted`, 303)
    } catch (error) {
      return showOwn(c, refusalOf(error))
    }
  })
  .post('/:id/decline', page('user'), async (c) => {
    const { directory, now } = c.get('rt')
    try {
      requireAnswered(await declineInvitation(directory, c.req.param('id'), userOf(c), changeOf(c)), now, 'declined')
      return c.redirect('/console?done=invitation_declined', 303)
    } catch (error) {
      return showOwn(c, refusalOf(error))
    }
  })

async function showOwn(c: Context<HttpEnv>, refusal: Refusal) {
  const { directory } = c.get('rt')
  const [row] = await run(directory, findOwn(directory, c.req.param('id') ?? '', userOf(c)))
  return row ? invitationPage(c, row, refusal) : notYoursPage(c)
}

/** An answer that came too late. The page itself says what happened to the invitation. @throws any other error */
function refusalOf(error: unknown): Refusal {
  const late = error instanceof Fault && ['invitation_not_pending', 'invitation_expired'].includes(error.fault)
  if (late) return { mistakes: { form: 'Nothing was changed.' }, status: 409 }
  if (error instanceof Fault && error.fault === 'not_found') return UNSENT // the page says so too
  throw error
}
