import { Hono } from 'hono'
import { clientOf } from '../../../accounts/client'
import { run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { passkeysOf } from '../../../passkeys/passkey'
import { confirmationMail } from '../../../sessions/mails'
import { confirmByCode, limitSignIn, requestCode } from '../../../sessions/sign-in'
import { localPath } from '../../local-path'
import { page } from '../../page'
import { userOf } from '../../session'
import { askPage } from './ask'
import { codePage } from './code'

/** Confirms the session of this browser, then returns to the page of the form that required it. */
export const confirmPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const next = localPath(c, c.req.query('next'))
    const { confirmed, user_id } = userOf(c)
    if (confirmed) return c.redirect(next, 303)
    const { directory } = c.get('rt')
    return askPage(c, next, (await run(directory, passkeysOf(directory, user_id))).length > 0)
  })
  .post('/code', page('user'), async (c) => {
    const next = localPath(c, c.get('form').get('next'))
    await limitSignIn(c)
    const { challenge } = await requestCode(c, userOf(c).email, confirmationMail)
    return codePage(c, { next, challenge })
  })
  .post('/', page('user'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    const challenge = form.get('challenge') ?? ''
    await limitSignIn(c)
    try {
      await confirmByCode(c.get('rt'), userOf(c), { challenge, code: form.get('code') ?? '' }, clientOf(c))
    } catch (error) {
      if (!(error instanceof Fault) || error.fault !== 'invalid_code') throw error
      return codePage(c, { next, challenge }, true)
    }
    const back = new URL(next, c.req.url)
    back.searchParams.set('done', 'confirmed')
    return c.redirect(back.pathname + back.search, 303)
  })
