import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { UseBody } from '../../../passkeys/fields'
import { beginSignIn, signInWithPasskey } from '../../../passkeys/use'
import { limitSteps, takeStep } from '../../../sessions/sign-in'
import { browserOf, keepBrowser } from '../../browser'
import { localPath } from '../../lead'
import { page } from '../../page'
import { answeredFields, optionsFor } from '../../passkey-answers'
import { keepSession, visitorOf } from '../../session'
import { addressPage } from './address'

/** Signing in with a passkey, which is the page's other way. */
export const passkeySignInPages = new Hono<HttpEnv>()
  .post('/options', page('anyone'), async (c) => {
    await limitSteps(c)
    return optionsFor(c, () => beginSignIn(c))
  })
  .post('/', page('anyone'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    try {
      const { credential } = answeredFields(UseBody, form)
      const before = await visitorOf(c)
      const browser = browserOf(c)
      const replaces = before?.id ?? null
      const { token } = await takeStep(c, credential.id, () => signInWithPasskey(c, credential, { browser, replaces }))
      keepSession(c, token)
      keepBrowser(c, browser)
      return c.redirect(next, 303)
    } catch (error) {
      if (!(error instanceof Fault) || !['invalid_passkey', 'validation_failed'].includes(error.fault)) throw error
      return addressPage(c, { next, refused: 'We do not recognize this passkey, or it could not be verified.' })
    }
  })
