import type { ConnectionRow } from '../../../inbox/connections/connection'
import { RemoveSecretQuery, SecretBody } from '../../../inbox/connections/fields'
import { MAX_SECRET_LENGTH, MAX_SECRETS } from '../../../inbox/connections/limits'
import { REMOVED_KEPT_FOR } from '../../../inbox/diagnoses/limits'
import { HOUR } from '../../../lib/time'
import { vendorOf } from '../../../vendors'
import { form, text, tick } from '../../form'
import { can, type Visit } from '../../page'
import type { Mistakes } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { sentence } from '../../ui/format'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { connectionPath, secretName } from './describe'
import { Used } from './facts'
import { guideOf } from './guides'

type Secret = ConnectionRow['secrets'][number]
type Props = { c: Visit; row: ConnectionRow; names: ReadonlyMap<string, string>; mistakes: Mistakes }

/** A connection's signing secrets, with a form to add one. @param names of the users and API keys that added them, by id */
export function Secrets({ c, row, names, mistakes }: Props) {
  const { now } = c.get('rt')
  const write = can(c, 'connections:write')
  const at = `${connectionPath(c, row)}/secrets`
  const remove: Column<Secret> = [
    '',
    ({ id, hint }) => (
      <a class="button" href={`${at}/${id}/remove`} data-dialog>
        Remove<span class="unseen"> {secretName(hint)}</span>
      </a>
    ),
  ]
  return (
    <>
      <h2 id="secrets">Signing secrets</h2>
      <Table
        label="Signing secrets"
        rows={row.secrets}
        columns={[
          ['Secret', ({ hint }) => <code>…{hint}</code>],
          ['Added', ({ created_at }) => <Time at={created_at} now={now} />],
          ['Added by', ({ added_by }) => added_by && (names.get(added_by) ?? <code>{added_by}</code>)],
          ['Last used', ({ id }) => <Used c={c} row={row} secret={id} />],
          ...(write ? [remove] : []),
        ]}
      />
      {write && row.secrets.length < MAX_SECRETS && <AddSecret c={c} row={row} mistakes={mistakes} />}
    </>
  )
}

function AddSecret({ c, row, mistakes }: Omit<Props, 'names'>) {
  const guide = guideOf(row.vendor)
  return (
    <details class="more-form" open={Boolean(mistakes.signing_secret ?? mistakes.form)}>
      <summary>Add a secret, or rotate one</summary>
      <p class="quiet">
        A delivery can be signed with any of these secrets. To rotate one without a gap, add the new one here, switch to
        it at the vendor, wait until the old one is no longer used, then remove it.
      </p>
      {guide && <p>{guide.where}</p>}
      <Post c={c} to={`${connectionPath(c, row)}/secrets`} class="form">
        <SecretField mistakes={mistakes} vendor={row.vendor} />
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit">Add secret</button>
      </Post>
    </details>
  )
}

export const SECRET = form(SecretBody, {
  signing_secret: text('Signing secret', { required: true, type: 'password', maxlength: MAX_SECRET_LENGTH }),
})

export const REMOVED_SECRET = form(RemoveSecretQuery, {
  forget: tick('Keep no copy', {
    hint: `We keep an encrypted copy for ${REMOVED_KEPT_FOR / HOUR} hours, only to tell you if the vendor still signs with this secret. Select this if someone else may know the secret.`,
  }),
})

/** The field for a signing secret of a vendor. */
export function SecretField({ mistakes, vendor }: { mistakes: Mistakes; vendor: string }) {
  const hint = `${sentence(vendorOf(vendor)?.checkSecret('') ?? '')} It is stored encrypted and never shown again.`
  return SECRET.field('signing_secret', { mistakes }, { hint })
}
