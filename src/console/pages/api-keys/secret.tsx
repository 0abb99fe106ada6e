import type { KeyRow } from '../../../api-keys/key'
import { NEW_SECRET_WAITS } from '../../../lib/rotation'
import { DAY } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import { inFull } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, ShownOnce } from '../../ui/parts'
import { Tabs } from '../../ui/tabs'
import { curlExample, envFile, nodeExample, SELF } from './examples'

/**
 * The only page that shows a secret, in response to the form that made it. The secret is never stored and never part of
 * an address. A reload sends the form again, which then leads to the page of the key.
 *
 * @param waits whether the secret becomes the current one only at its first use
 * @param settingUp whether the project is not set up yet: the overview then says what comes next
 */
export function secretPage(
  c: Visit,
  row: KeyRow,
  secret: string,
  { what, waits = false, settingUp = false }: { what: 'created' | 'rotated'; waits?: boolean; settingUp?: boolean },
) {
  const { start, keys } = pathsOf(c)
  return show(
    c,
    { title: `API key ${what}`, section: 'keys', status: what === 'created' ? 201 : 200 },
    <div data-unsaved>
      <Head title={`API key ${what}`} />
      <ShownOnce what="secret" of={<h2>{row.name}</h2>} kept="We store only a hash of it.">
        {secret}
      </ShownOnce>
      <p>
        {row.expires_at === null
          ? 'The key never expires.'
          : `The key expires at ${inFull(row.expires_at, c.get('rt').now)}.`}
      </p>
      {waits && (
        <p>
          The old secret works until a request uses this one. If this one is not used within {NEW_SECRET_WAITS / DAY}{' '}
          days, it expires and the old one stays.
        </p>
      )}
      <h2>Use it</h2>
      <p>
        Keep the secret out of your code. Put it into the environment of your server, for example with a{' '}
        <code>.env</code> file, and read it from there. The curl and Node.js tabs show a first call that works with
        every key. It returns the key’s own name, scopes and expiry.
      </p>
      <Examples c={c} secret={secret} />
      <p class="try" hidden data-try={SELF} data-project={c.get('actor').project_id}>
        <button type="button">Try it</button> <span class="quiet">Sends the first call from your browser.</span>
      </p>
      <p>
        <a class="button primary" href={settingUp ? start : keys} data-saved>
          I have stored the secret{settingUp && ': continue setting up'}
        </a>
      </p>
    </div>,
  )
}

/** How a key is used: in the environment, and for a first call. */
export function Examples({ c, secret, first }: { c: Visit; secret: string; first?: 'curl' }) {
  const tabs = [
    ['env', '.env', envFile(c, secret)],
    ['curl', 'curl', curlExample(c)],
    ['node', 'Node.js', nodeExample(c)],
  ] as const
  return <Tabs group="example" tabs={tabs} first={first} />
}
