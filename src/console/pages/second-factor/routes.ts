import { Hono } from 'hono'
import { run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { UseBody } from '../../../passkeys/fields'
import { passkeysOf } from '../../../passkeys/passkey'
import { useRecoveryCode } from '../../../passkeys/recovery'
import { beginProof, provePasskey } from '../../../passkeys/use'
import { takeStep } from '../../../sessions/sign-in'
import { action } from '../../action'
import { localPath } from '../../lead'
import { page, type Visit } from '../../page'
import { answeredFields, optionsFor } from '../../passkey-answers'
import { userOf } from '../../session'
import { addFirstPage, provePage } from './prove'

const prove = action({
  posts: '/',
  needs: 'user',
  run: async (c) => {
    const { credential } = answeredFields(UseBody, c.get('form'))
    await takeStep(c, userOf(c).user_id, () => provePasskey(c, userOf(c), credential))
  },
  done: (c) => [nextOf(c), 'second_factor'],
  again: (c) => provePage(c, { next: nextOf(c), refused: 'This passkey is not yours, or it could not be verified.' }),
  explains: { invalid_passkey: true },
})

const recover = action({
  posts: '/code',
  needs: 'user',
  run: (c) => takeStep(c, userOf(c).user_id, () => useRecoveryCode(c, userOf(c), c.get('form').get('code') ?? '')),
  done: (c) => [nextOf(c), 'second_factor'],
  again: (c) => provePage(c, { next: nextOf(c), mistakes: { code: 'This code is incorrect, or was already used.' } }),
  explains: { invalid_recovery_code: true },
})

const nextOf = (c: Visit) => localPath(c, c.get('form').get('next'))

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
  .route('/', prove)
  .route('/', recover)
