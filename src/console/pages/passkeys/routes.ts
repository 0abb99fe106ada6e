import { type Context, Hono } from 'hono'
import { batch, run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { requireConfirmed } from '../../../http/policy'
import { Fault, notFound } from '../../../lib/fault'
import { beginRegistration, finishRegistration, namePasskey, removePasskey } from '../../../passkeys/change'
import { factorRequired } from '../../../passkeys/faults'
import { RegisterPasskeyBody, RenameBody } from '../../../passkeys/fields'
import { passkeysOf } from '../../../passkeys/passkey'
import { renewOnce } from '../../../passkeys/recovery'
import { codesLeft, codesMadeAt } from '../../../passkeys/recovery-codes'
import { localPath } from '../../local-path'
import { page } from '../../page'
import { answered, optionsFor } from '../../passkey-answers'
import { parse, type Refusal, refusalOf } from '../../refusal'
import { userOf } from '../../session'
import { addPage } from './add'
import { codesPage } from './codes'
import { deletePage, newCodesPage, renamePage } from './confirm'
import { listPage, PASSKEYS } from './list'

/** The user's passkeys and recovery codes. */
export const passkeyPages = new Hono<HttpEnv>()
  .get('/', page('account'), async (c) => {
    const { directory } = c.get('rt')
    const { user_id } = userOf(c)
    const { own, codes } = await batch(directory, {
      own: passkeysOf(directory, user_id),
      codes: codesLeft(directory, user_id),
    })
    return listPage(c, own, codes[0] ?? { left: 0, created_at: null })
  })
  .get('/new', page('account'), async (c) => {
    await requireManaging(c)
    return addPage(c, nextOf(c, c.req.query('next')))
  })
  .post('/options', page('account'), (c) => {
    requireConfirmed(userOf(c))
    return optionsFor(c, () => beginRegistration(c, userOf(c)))
  })
  .post('/', page('account'), async (c) => {
    requireConfirmed(userOf(c))
    const form = c.get('form')
    const next = nextOf(c, form.get('next'))
    const name = form.get('name') ?? ''
    try {
      const { codes } = await finishRegistration(c, userOf(c), answered(RegisterPasskeyBody, form, { name }))
      return codes
        ? codesPage(c, codes, next)
        : c.redirect(next === PASSKEYS ? `${next}?done=passkey_added` : next, 303)
    } catch (error) {
      return addPage(c, next, name, refusedBecause(error))
    }
  })
  .get('/codes', page('account'), async (c) => {
    await requireManaging(c)
    const { directory } = c.get('rt')
    const [made] = await run(directory, codesMadeAt(directory, userOf(c).user_id))
    return newCodesPage(c, made?.at ?? null)
  })
  .post('/codes', page('account'), async (c) => {
    requireConfirmed(userOf(c))
    const codes = await renewOnce(c, userOf(c), Number(c.get('form').get('known')) || null)
    // A form that is sent again, by a reload for example, must make no other codes: the user may have stored the first.
    return codes ? codesPage(c, codes, PASSKEYS) : c.redirect(`${PASSKEYS}?done=codes_renewed_before`, 303)
  })
  .get('/:id/rename', page('account'), async (c) => renamePage(c, (await named(c)).passkey))
  .post('/:id/rename', page('account'), async (c) => {
    const id = c.req.param('id')
    const name = c.get('form').get('name') ?? ''
    try {
      const fields = parse(RenameBody, { name })
      await namePasskey(c, userOf(c), id, fields.name)
      return c.redirect(`${PASSKEYS}?done=passkey_renamed`, 303)
    } catch (error) {
      return renamePage(c, { id, name }, refusalOf(error))
    }
  })
  .get('/:id/delete', page('account'), async (c) => {
    const { passkey, own } = await named(c)
    await requireManaging(c)
    return deletePage(c, passkey, own.length === 1)
  })
  .post('/:id/delete', page('account'), async (c) => {
    requireConfirmed(userOf(c))
    await removePasskey(c, userOf(c), c.req.param('id'))
    return c.redirect(`${PASSKEYS}?done=passkey_deleted`, 303)
  })

/** Leads to a confirmation, or to the second factor, before a page whose form would need it. */
async function requireManaging(c: Context<HttpEnv>): Promise<void> {
  const user = userOf(c)
  if (!user.second_factor && (await ownOf(c)).length > 0) throw factorRequired()
  requireConfirmed(user)
}

function ownOf(c: Context<HttpEnv>) {
  const { directory } = c.get('rt')
  return run(directory, passkeysOf(directory, userOf(c).user_id))
}

/** The passkey that the path names, among the user's. */
async function named(c: Context<HttpEnv>) {
  const own = await ownOf(c)
  const passkey = own.find(({ id }) => id === c.req.param('id'))
  if (!passkey) throw notFound('Passkey', 'among your passkeys')
  return { passkey, own }
}

/** Where to continue after the form: to the list, unless another page of the console asked for a passkey. */
function nextOf(c: Context<HttpEnv>, wanted: string | null | undefined): string {
  return wanted ? localPath(c, wanted) : PASSKEYS
}

function refusedBecause(error: unknown): Refusal {
  const known = ['registration_refused', 'passkey_exists', 'passkey_limit_reached']
  if (!(error instanceof Fault) || !known.includes(error.fault)) return refusalOf(error)
  return { mistakes: { form: error.detail }, status: error.fault === 'registration_refused' ? 422 : 409 }
}
