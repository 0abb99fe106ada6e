import { Hono } from 'hono'
import { batch, run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { requireConfirmed } from '../../../http/policy'
import { notFound } from '../../../lib/fault'
import { beginRegistration, finishRegistration, namePasskey, removePasskey } from '../../../passkeys/change'
import { factorRequired } from '../../../passkeys/faults'
import { RegisterPasskeyBody, RenameBody } from '../../../passkeys/fields'
import { MAX_PASSKEY_NAME, RECOVERY_CODES } from '../../../passkeys/limits'
import { passkeysOf } from '../../../passkeys/passkey'
import { renewOnce } from '../../../passkeys/recovery'
import { codesLeft, codesMadeAt } from '../../../passkeys/recovery-codes'
import { action } from '../../action'
import { form, text } from '../../form'
import { localPath } from '../../lead'
import { page, type Visit } from '../../page'
import { answeredFields, optionsFor } from '../../passkey-answers'
import { userOf } from '../../session'
import { Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { addPage, codesPage } from './add'
import { listPage, PASSKEYS_PATH } from './list'

const placed = { section: 'passkeys', above: ['Passkeys', PASSKEYS_PATH] } as const

const PASSKEY = form(RenameBody, {
  name: text('Name', { required: true, maxlength: MAX_PASSKEY_NAME, autofocus: true, hint: 'Only you see this.' }),
})

const add = action({
  at: '/new',
  posts: '/',
  needs: 'account',
  read: requireManaging,
  ask: (c, _, sent) => addPage(c, nextOf(c, sent.entered?.get('next') ?? c.req.query('next')), sent),
  run: (c) => {
    requireConfirmed(userOf(c))
    const form = c.get('form')
    return finishRegistration(c, userOf(c), answeredFields(RegisterPasskeyBody, form, { name: form.get('name') ?? '' }))
  },
  done: (c, { codes }) => {
    const next = nextOf(c, c.get('form').get('next'))
    if (codes) return codesPage(c, codes, next)
    return next === PASSKEYS_PATH ? [next, 'passkey_added'] : [next]
  },
  explains: { registration_refused: true },
})

/** The form names the codes that it replaces: it replaces them once. */
const renew = action({
  at: '/codes',
  needs: 'account',
  read: async (c) => {
    await requireManaging(c)
    const { directory } = c.get('rt')
    const [made] = await run(directory, codesMadeAt(directory, userOf(c).user_id))
    return made?.at ?? ''
  },
  ask: (_, madeAt) => ({
    ...placed,
    title: 'Generate new recovery codes',
    question: 'Generate new recovery codes?',
    says: (
      <>
        <p>You get {RECOVERY_CODES} new codes, which are shown once. The old codes stop working.</p>
        <p>Your other sessions continue, but must use a passkey or a code again for important changes.</p>
      </>
    ),
    choice: <input type="hidden" name="known" value={madeAt} />,
    verb: 'Generate new codes',
  }),
  run: (c) => {
    requireConfirmed(userOf(c))
    return renewOnce(c, userOf(c), Number(c.get('form').get('known')) || null)
  },
  // A form that is sent again, by a reload for example, must make no other codes: the user may have stored the first.
  done: (c, codes) => (codes ? codesPage(c, codes, PASSKEYS_PATH) : [PASSKEYS_PATH, 'codes_renewed_before']),
})

const rename = action({
  at: '/:id/rename',
  needs: 'account',
  read: named,
  ask: (c, { passkey }, { mistakes, status, entered }) =>
    show(
      c,
      { ...placed, title: 'Rename a passkey', status },
      <>
        <h1>Rename a passkey</h1>
        <Post c={c} to={`${PASSKEYS_PATH}/${passkey.id}/rename`} class="form">
          <Wrong>{mistakes.form}</Wrong>
          {PASSKEY.field('name', { mistakes, entered: entered ?? PASSKEY.opened(passkey) })}
          <button type="submit" class="primary">
            Save
          </button>
        </Post>
      </>,
    ),
  run: (c) => namePasskey(c, userOf(c), c.req.param('id') ?? '', PASSKEY.body(c.get('form')).name),
  done: () => [PASSKEYS_PATH, 'passkey_renamed'],
})

const remove = action({
  at: '/:id/delete',
  needs: 'account',
  read: async (c) => {
    const found = await named(c)
    await requireManaging(c)
    return found
  },
  ask: (_, { passkey, own }) => ({
    ...placed,
    title: 'Delete a passkey',
    question: `Delete the passkey “${passkey.name}”?`,
    says: (
      <>
        <p>
          You will no longer be able to sign in with it. Your other sessions continue, but must use a passkey or a code
          again for important changes. Your device still offers the passkey until you remove it there too.
        </p>
        {own.length === 1 && (
          <p>
            It is your only passkey, so your recovery codes stop working too. A project that requires a passkey will ask
            you to add another one.
          </p>
        )}
      </>
    ),
    verb: 'Delete the passkey',
    danger: true,
  }),
  run: (c) => {
    requireConfirmed(userOf(c))
    return removePasskey(c, userOf(c), c.req.param('id') ?? '')
  },
  done: () => [PASSKEYS_PATH, 'passkey_deleted'],
})

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
  .post('/options', page('account'), (c) => {
    requireConfirmed(userOf(c))
    return optionsFor(c, () => beginRegistration(c, userOf(c)))
  })
  .route('/', add)
  .route('/', renew)
  .route('/', rename)
  .route('/', remove)

/** Leads to a confirmation, or to the second factor, before a page whose form would need it. */
async function requireManaging(c: Visit): Promise<void> {
  const user = userOf(c)
  if (!user.second_factor && (await ownOf(c)).length > 0) throw factorRequired()
  requireConfirmed(user)
}

function ownOf(c: Visit) {
  const { directory } = c.get('rt')
  return run(directory, passkeysOf(directory, userOf(c).user_id))
}

/** The passkey that the path names, among the user's. */
async function named(c: Visit) {
  const own = await ownOf(c)
  const passkey = own.find(({ id }) => id === c.req.param('id'))
  if (!passkey) throw notFound('Passkey', 'among your passkeys')
  return { passkey, own }
}

/** Where to continue after the form: to the list, unless another page of the console asked for a passkey. */
function nextOf(c: Visit, wanted: string | null | undefined): string {
  return wanted ? localPath(c, wanted) : PASSKEYS_PATH
}
