import { MAX_PASSKEYS, RECOVERY_CODES } from '../../../passkeys/limits'
import type { Passkey } from '../../../passkeys/passkey'
import type { Visit } from '../../page'
import { userOf } from '../../session'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

export const PASSKEYS_PATH = '/console/passkeys'

type Codes = { left: number; created_at: number | null }

/** The user's passkeys, and how many recovery codes are left. */
export function listPage(c: Visit, own: readonly Passkey[], codes: Codes) {
  const { email } = userOf(c)
  return show(
    c,
    { title: 'Passkeys', section: 'passkeys' },
    <>
      <Head title="Passkeys">
        {own.length < MAX_PASSKEYS && (
          <a class="button primary" href={`${PASSKEYS_PATH}/new`}>
            Add a passkey
          </a>
        )}
      </Head>
      <p class="quiet">
        A passkey signs you in as {email} with your fingerprint, your face or the PIN of your device, without an emailed
        code. It is also a second factor, which a project can require for its admins and owners.
      </p>
      {own.length === 0 ? (
        <p class="empty">You have no passkeys.</p>
      ) : (
        <>
          <Table label="Passkeys" rows={own} columns={columnsOf(c)} class="keys" />
          <Recovery c={c} codes={codes} />
        </>
      )}
    </>,
  )
}

function columnsOf(c: Visit): Column<Passkey>[] {
  const { now } = c.get('rt')
  return [
    ['Name', ({ name }) => name],
    ['Stored', ({ backed_up }) => (backed_up ? 'Synced across your devices' : 'On one device only')],
    ['Added', ({ created_at }) => <Time at={created_at} now={now} />],
    ['Last used', ({ last_used_at }) => <Time at={last_used_at} now={now} />],
    [
      '',
      ({ id, name }) => (
        <>
          <a class="button" href={`${PASSKEYS_PATH}/${id}/rename`} aria-label={`Rename ${name}`}>
            Rename
          </a>{' '}
          <a class="button danger" href={`${PASSKEYS_PATH}/${id}/delete`} data-dialog aria-label={`Delete ${name}`}>
            Delete
          </a>
        </>
      ),
    ],
  ]
}

function Recovery({ c, codes: { left, created_at } }: { c: Visit; codes: Codes }) {
  return (
    <>
      <h2>Recovery codes</h2>
      <p>
        {left === 0 ? (
          'You have no recovery codes left.'
        ) : (
          <>
            You have {plural(left, 'recovery code')} left of {RECOVERY_CODES}, generated{' '}
            <Time at={created_at} now={c.get('rt').now} />.
          </>
        )}{' '}
        If you lose your device, sign in with an emailed code, and use a recovery code instead of the passkey.
      </p>
      <p>
        <a class="button" href={`${PASSKEYS_PATH}/codes`} data-dialog>
          Generate new codes
        </a>
      </p>
    </>
  )
}
