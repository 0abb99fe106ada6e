import type { Context } from 'hono'
import { MAX_BLOCK_REASON } from '../../../consumers/limits'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Confirm } from '../../ui/confirm'
import { Field, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { titleOf } from './words'

/** Asks before a consumer is blocked. */
export function blockPage(c: Context<HttpEnv>, row: Consumer, { mistakes, status } = UNSENT) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Block consumer', section: 'consumers', above: [titleOf(row), path], status },
    <Confirm
      c={c}
      title={`Block ${titleOf(row)}?`}
      to={`${path}/block`}
      verb="Block consumer"
      back={path}
      danger
      choice={<Reason mistakes={mistakes} hint="Shown on the consumer’s page, and kept in the audit log." />}
    >
      <p>
        The tokens of its devices are no longer valid while it is blocked, and your servers see the state “blocked”.
        Nothing is deleted. You can unblock the consumer at any time.
      </p>
      <Wrong>{mistakes.form}</Wrong>
    </Confirm>,
  )
}

/** Asks before a consumer is unblocked. */
export function unblockPage(c: Context<HttpEnv>, row: Consumer, { mistakes, status } = UNSENT) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Unblock consumer', section: 'consumers', above: [titleOf(row), path], status },
    <Confirm
      c={c}
      title={`Unblock ${titleOf(row)}?`}
      to={`${path}/unblock`}
      verb="Unblock consumer"
      back={path}
      choice={<Reason mistakes={mistakes} hint="Kept in the audit log." />}
    >
      <p>The consumer becomes active again.</p>
      {row.blocked_reason !== null && <p>It was blocked because of “{row.blocked_reason}”.</p>}
      <Wrong>{mistakes.form}</Wrong>
    </Confirm>,
  )
}

function Reason({ mistakes, hint }: { mistakes: (typeof UNSENT)['mistakes']; hint: string }) {
  return (
    <Field
      name="reason"
      label="Reason (optional)"
      maxlength={2 * MAX_BLOCK_REASON}
      hint={`${hint} Do not write personal data into it.`}
      mistakes={mistakes}
    />
  )
}
