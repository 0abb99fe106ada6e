import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { UseBody } from '../../../passkeys/fields'
import { passkeysOf } from '../../../passkeys/passkey'
import { useRecoveryCode } from '../../../passkeys/recovery'
import { beginProof, provePasskey } from '../../../passkeys/use'
import { limitSignIn } from '../../../sessions/sign-in'
import { localPath } from '../../local-path'
import { page } from '../../page'
import { answered, optionsFor } from '../../passkey-answers'
import { userOf } from '../../session'
import { addFirstPage, provePage } from './prove'

/** The second factor of this browser's session: then back to the page that required it. */
export const secondFactorPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { directory } = c.get('rt')
    const next = localPath(c, c.req.query('next'))
    const user = userOf(c)
    if (user.second_factor) return c.redirect(next, 303)
    const own = await run(directory, passkeysOf(directory, user.user_id))
    return own.length > 0 ? provePage(c, { next }) : addFirstPage(c, next)
  })
  .post('/options', page('user'), (c) => optionsFor(c, () => beginProof(c, userOf(c))))
  .post('/', page('user'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    await limitSignIn(c)
    try {
      await provePasskey(c, userOf(c), answered(UseBody, form).credential)
    } catch (error) {
      requireOneOf(error, ['invalid_passkey', 'validation_failed'])
      return provePage(c, { next, refused: 'This passkey is not yours, or it could not be verified.' })
    }
    return back(c, next)
  })
  .post('/code', page('user'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    await limitSignIn(c)
    try {
      await useRecoveryCode(c, userOf(c), form.get('code') ?? '')
    } catch (error) {
      requireOneOf(error, ['invalid_recovery_code'])
      return provePage(c, { next, mistakes: { code: 'This code is incorrect, or was already used.' } })
    }
    return back(c, next)
  })

/** @throws the error itself if it is not one of these faults */
function requireOneOf(error: unknown, faults: readonly string[]): void {
  if (!(error instanceof Fault) || !faults.includes(error.fault)) throw error
}

function back(c: Context<HttpEnv>, next: string): Response {
  const target = new URL(next, c.req.url)
  target.searchParams.set('done', 'second_factor')
  return c.redirect(target.pathname + target.search, 303)
}
