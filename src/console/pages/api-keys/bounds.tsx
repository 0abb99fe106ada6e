import type { KeyRow } from '../../../api-keys/key'
import { MAX_NETWORKS } from '../../../api-keys/limits'
import { clientAddress } from '../../../http/address'
import { RATE_LIMITS } from '../../../http/limits'
import { networkAround } from '../../../lib/networks'
import { list, number } from '../../form'
import type { Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Fact } from '../../ui/parts'

/** The box that adds the network of whoever fills in the form. */
const HERE = 'network_here'

/** The fields of a form that say where a key may be used, and how often. */
export const BOUNDS = {
  allowed_networks: {
    ...list('Allowed networks', '\n', { rows: 3, none: 'all' }),
    read: (text: string, sent: URLSearchParams) => {
      const networks = [...text.split(/[\s,]+/), ...sent.getAll(HERE)].filter((one) => one !== '')
      return networks.length === 0 ? null : networks
    },
    show: (stored: unknown) => ((stored ?? []) as string[]).join('\n'),
  },
  rate_limit: {
    ...number('Requests per minute', { none: 'no limit of its own' }),
    read: (text: string) => (text === '' ? null : { per_minute: Number(text) }),
  },
}

type Form = { field: (name: keyof typeof BOUNDS, sent: Pick<Sent, 'entered' | 'mistakes'>, look: object) => unknown }

/** Both fields, and a box for “only from here”. */
export function BoundFields({ c, of, ...sent }: { c: Visit; of: Form } & Pick<Sent, 'entered' | 'mistakes'>) {
  const here = networkAround(clientAddress(c) ?? '', { v4: 32, v6: 64 })
  return (
    <>
      {of.field('allowed_networks', sent, {
        hint: `One address block per line, such as 192.0.2.0/24 or 2001:db8::/48, up to ${MAX_NETWORKS}. Requests from other networks fail with status 403. Leave it empty to allow all networks.`,
      })}
      {here && (
        <div class="checks one">
          <label>
            <input
              type="checkbox"
              name={HERE}
              value={here}
              checked={sent.entered?.get(HERE) === here}
              autocomplete="off"
            />{' '}
            <span>
              Only from here: add the network of this browser, <code>{here}</code>
            </span>
          </label>
        </div>
      )}
      {of.field('rate_limit', sent, {
        hint: `From 1 to ${RATE_LIMITS.credential.requests}, which also applies if this is empty. Requests over the limit fail with status 429.`,
      })}
    </>
  )
}

type Bounds = { allowed_networks?: string[] | null | undefined; rate_limit?: { per_minute: number } | null | undefined }

/** What a form changes: the bounds that it sends as they are would be a change in the audit log. */
export function boundsChanged<B extends Bounds>(sent: B, row: KeyRow): B {
  const isSame = JSON.stringify(sent.allowed_networks) === JSON.stringify(row.allowed_networks)
  const isSameLimit = (sent.rate_limit?.per_minute ?? null) === row.rate_limit
  return { ...sent, ...(isSame && { allowed_networks: undefined }), ...(isSameLimit && { rate_limit: undefined }) }
}

/** What the page of a key says about them. */
export function BoundFacts({ row: { allowed_networks, rate_limit } }: { row: KeyRow }) {
  return (
    <>
      <Fact name="Allowed networks">
        {allowed_networks === null
          ? 'anywhere'
          : allowed_networks.map((network) => <code class="line">{network}</code>)}
      </Fact>
      {rate_limit !== null && <Fact name="Requests per minute">at most {rate_limit}</Fact>}
    </>
  )
}
