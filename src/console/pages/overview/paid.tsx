import { PAID_DAYS, type Paid } from '../../../billing/invoices/paid'
import { DAY, iso } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import { money } from '../../ui/format'
import { inMode } from './business'
import type { Overview } from './read'

/** The most currencies that are shown, those with the most invoices. */
const SHOWN = 6

/** What was paid in invoices in the last days, in each currency. Nothing if nothing was. */
export function PaidInvoices({ c, of }: { c: Visit; of: Pick<Overview, 'paid' | 'connections'> }) {
  const { paid } = of
  if (paid?.sums.length === 0) return null
  const list = `${pathsOf(c).billing}/invoices`
  const since = `updated_after=${iso(c.get('rt').now - PAID_DAYS * DAY).slice(0, 19)}Z`
  return (
    <>
      <div class="head section">
        <h2>Paid invoices{paid && inMode(c, of, paid.livemode)}</h2>
        <a href={paid ? `${list}?livemode=${paid.livemode}` : list}>All invoices</a>
      </div>
      {paid === null ? (
        <p class="quiet">Too many invoices have changed in the last {PAID_DAYS} days to add them up here.</p>
      ) : (
        <dl class="tiles paid">
          {paid.sums.slice(0, SHOWN).map((sum) => (
            <div>
              <dt>
                Paid in the last {PAID_DAYS} days, {sum.currency}
              </dt>
              <dd>
                <a href={`${list}?status=paid&livemode=${paid.livemode}&${since}`}>{amountOf(sum, sum.amount)}</a>
                <Change of={sum} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

/** How the amount compares with the days before. Nothing if nothing was paid then, or if that is not known. */
function Change({ of }: { of: Paid }) {
  if (!of.before) return null
  const by = of.amount - of.before
  return (
    <small>
      {by === 0 ? 'As much as' : `${amountOf(of, Math.abs(by))} ${by > 0 ? 'more' : 'less'} than`} in the {PAID_DAYS}{' '}
      days before
    </small>
  )
}

const amountOf = ({ currency }: Paid, value: number) => money({ value, currency })
