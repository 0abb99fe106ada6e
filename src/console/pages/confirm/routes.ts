import { Hono } from 'hono'
import { clientOf } from '../../../accounts/by'
import { run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { passkeysOf } from '../../../passkeys/passkey'
import { confirmationMail } from '../../../sessions/mails'
import { confirmByCode, limitSignIn, requestCode, takeStep } from '../../../sessions/sign-in'
import { action } from '../../action'
import { localPath } from '../../lead'
import { page, type Visit } from '../../page'
import { userOf } from '../../session'
import { confirmCodePage, confirmPage } from './ask'

const enter = action({
  posts: '/',
  needs: 'user',
  run: async (c) => {
    await takeStep(c, sentIn(c).challenge, () => confirmByCode(c.get('rt'), userOf(c), sentIn(c), clientOf(c)))
  },
  done: (c) => [sentIn(c).next, 'confirmed'],
  again: (c) => confirmCodePage(c, sentIn(c), true),
  explains: { invalid_code: true },
})

function sentIn(c: Visit) {
  const form = c.get('form')
  const next = localPath(c, form.get('next'))
  return { next, challenge: form.get('challenge') ?? '', code: form.get('code') ?? '' }
}

/** Confirms the session of this browser, then returns to the page of the form that required it. */
export const confirmPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const next = localPath(c, c.req.query('next'))
    const { confirmed, user_id } = userOf(c)
    if (confirmed) return c.redirect(next, 303)
    const { directory } = c.get('rt')
    return confirmPage(c, next, (await run(directory, passkeysOf(directory, user_id))).length > 0)
  })
  .post('/code', page('user'), async (c) => {
    const next = localPath(c, c.get('form').get('next'))
    await limitSignIn(c)
    const { challenge } = await requestCode(c, userOf(c).email, confirmationMail)
    return confirmCodePage(c, { next, challenge })
  })
  .route('/', enter)
