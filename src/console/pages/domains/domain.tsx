import type { Domain } from '../../../domains/domain'
import { ABSENT_CHECKS, GRACE_FOR } from '../../../domains/limits'
import { isProof, recordName, recordValue } from '../../../domains/names'
import type { DomainState, Purpose, ResolverAnswer } from '../../../domains/schema'
import { toUnicode } from '../../../lib/punycode'
import { DAY } from '../../../lib/time'
import { can, pathsOf, type Visit } from '../../page'
import type { Refusal } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Copyable, ExactTime, Fact, Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

export const PURPOSE_WORDS: Record<Purpose, string> = {
  sso: 'Single sign-on',
  surface: 'Host for pages',
}

/** What each state means, in a sentence. */
const STATE_WORDS: Record<DomainState, string> = {
  pending: 'The record has not been found yet. We keep looking for seven days.',
  verified: 'The domain is yours. Keep the record: we check it every day.',
  grace: 'The record is missing. The domain still works for now.',
  failed: 'The domain no longer has any effect. Choose “Try again” to get a new record.',
  released: 'The domain was deleted.',
}

/**
 * One domain: its record, what each resolver has seen of it, and, for a host, whether it serves.
 */
export function domainPage(c: Visit, row: Domain, { mistakes, status }: Refusal) {
  const { now } = c.get('rt')
  const { domains } = pathsOf(c)
  const name = toUnicode(row.hostname)
  return show(
    c,
    { title: name, section: 'domains', above: ['Domains', domains], status },
    <>
      <Head title={name}>{mayChange(c, row) && row.state !== 'released' && <Actions c={c} row={row} />}</Head>
      <Wrong>{mistakes.form}</Wrong>
      {isMissed(row) && (
        <p class="warning" role="note">
          The last check did not find your record. The domain is still yours. After {ABSENT_CHECKS} failed checks over
          at least a day, you have {plural(GRACE_FOR / DAY, 'day')} to add the record again.
        </p>
      )}
      <dl class="facts">
        <Fact name="State">
          <Badge of={row.state} /> <span class="quiet">{STATE_WORDS[row.state]}</span>
        </Fact>
        <Fact name="Use">{PURPOSE_WORDS[row.purpose]}</Fact>
        {name !== row.hostname && (
          <Fact name="Name in DNS">
            <code>{row.hostname}</code>
          </Fact>
        )}
        <Fact name="Last check">
          <ExactTime at={row.checked_at} now={now} />
        </Fact>
        {row.next_check_at !== null && (
          <Fact name="Next check">
            <ExactTime at={row.next_check_at} now={now} />
          </Fact>
        )}
        {row.grace_until !== null && (
          <Fact name="Expires">
            <ExactTime at={row.grace_until} now={now} />
          </Fact>
        )}
      </dl>
      <h2>TXT record</h2>
      <p>Add this record to the DNS of {name}. Other TXT records of the name can stay.</p>
      <p class="quiet">Name</p>
      <Copyable id="record-name" label="Name">
        {recordName(row.hostname)}
      </Copyable>
      <p class="quiet">Value</p>
      <Copyable id="record-value" label="Value">
        {recordValue(row.token)}
      </Copyable>
      {row.evidence && (
        <>
          <h2>DNS check results</h2>
          <Table label="Resolvers" rows={row.evidence.resolvers} columns={columnsFor(recordValue(row.token))} />
        </>
      )}
      {row.purpose === 'surface' && <Serving c={c} row={row} />}
    </>,
  )
}

/** Whether the record of a verified domain was not there in the last check. */
function isMissed({ state, evidence }: Domain): boolean {
  return state === 'verified' && (evidence?.status === 'missing' || evidence?.status === 'wrong')
}

/** Whether the user may check and delete the domain. */
function mayChange(c: Visit, { purpose }: Domain): boolean {
  return can(c, 'domains:write') && (purpose !== 'sso' || can(c, 'sso:write'))
}

function Actions({ c, row }: { c: Visit; row: Domain }) {
  const path = `${pathsOf(c).domains}/${row.id}`
  return (
    <>
      <Post c={c} to={`${path}/verify`} class="once">
        <button type="submit" class={row.state === 'verified' ? undefined : 'primary'}>
          {row.state === 'failed' ? 'Try again' : 'Check now'}
        </button>
      </Post>
      <a class="button" href={`${path}/delete`} data-dialog>
        Delete
      </a>
    </>
  )
}

function columnsFor(expected: string): Column<ResolverAnswer>[] {
  return [
    ['Resolver', ({ name }) => <span class="name">{name}</span>],
    ['Response', (seen) => said(seen, expected)],
    [
      'Values',
      ({ values }) =>
        values.length > 0 &&
        values.map((value) => (
          <div>
            <code>{value}</code>
          </div>
        )),
    ],
    ['DNSSEC', ({ authenticated }) => (authenticated ? 'yes' : 'no')],
  ]
}

/** What a resolver has answered, in words. */
function said({ rcode, values }: ResolverAnswer, expected: string): string {
  if (rcode === 'NXDOMAIN') return 'No such name'
  if (rcode !== 'NOERROR') return `No usable response (${rcode})`
  if (values.includes(expected)) return 'The value was found'
  if (values.length === 0) return 'No such record'
  const others = values.filter(isProof).length
  return `${plural(values.length, 'value')}, but not this one${others > 0 ? '. It may be an old record, or another project’s' : ''}`
}

/** How the host of a surface leads here, and whether it does. */
function Serving({ c, row }: { c: Visit; row: Domain }) {
  const { settings, now } = c.get('rt')
  if (settings.surfaceTarget === null) {
    return (
      <>
        <h2>Host</h2>
        <p class="quiet">This deployment does not serve project hosts. You can still verify the name.</p>
      </>
    )
  }
  return (
    <>
      <h2>Host</h2>
      <p>
        Point the name here with a CNAME record. The operator of this service must also add the name, so that it gets a
        certificate.
      </p>
      <Copyable id="cname" label="CNAME record">
        {`${row.hostname} CNAME ${settings.surfaceTarget}`}
      </Copyable>
      <dl class="facts">
        <Fact name="Serves">
          {row.serving === null ? 'Not checked yet.' : row.serving ? 'Yes' : `No. ${row.serving_detail}`}{' '}
          {row.serving_at !== null && (
            <span class="quiet">
              <Time at={row.serving_at} now={now} />
            </span>
          )}
        </Fact>
      </dl>
    </>
  )
}
