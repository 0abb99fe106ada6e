import { publicOrigin } from '../../../http/origin'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { ingestUrl } from '../../../inbox/connections/present'
import { isLocalhost } from '../../../lib/localhost'
import { can, type Visit } from '../../page'
import { Copyable } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import type { Guide } from './guide'
import { exampleSecret } from './suggest'

/*
 * What the pages say on a local server, which no vendor can reach.
 */

type About = { c: Visit; row: ConnectionRow }

/** Whether this server is on the reader's own machine. */
export function isLocal(c: Visit): boolean {
  const origin = publicOrigin(c)
  return origin !== null && isLocalhost(new URL(origin).hostname)
}

/** A secret to try the connection with, on a local server and for those who may enter it; null otherwise. */
export async function localSecret(c: Visit, row: ConnectionRow): Promise<string | null> {
  if (!isLocal(c) || !can(c, 'connections:write') || !canSend(row)) return null
  return exampleSecret(c.get('rt'), row)
}

/** Whether `npm run send` can sign as the vendor. Braintree sends forms with its own signatures inside. Apple and PayPal sign with private keys of their own. */
const canSend = ({ vendor }: ConnectionRow) => !['apple', 'braintree', 'paypal'].includes(vendor)

/** Whether {@link SendExample} has a command. It signs as those HMAC senders that have a preset. */
export function hasExample(c: Visit, row: ConnectionRow): boolean {
  return isLocal(c) && canSend(row) && (row.vendor !== 'hmac' || row.verification?.preset !== undefined)
}

/** How to try a connection without an address that the vendor can reach. */
export function NotReachable({ c, row, guide }: About & { guide: Guide | null }) {
  const title = vendorTitle(row.vendor)
  return (
    <>
      <p>
        This server runs on your own machine, so {title} cannot reach it.
        {canSend(row) &&
          ' To try the connection, skip this step: the next ones give you a secret and an example event.'}
      </p>
      {guide?.forward && (
        <>
          <p>If you have a test account at {title}, its command-line tool can forward events to this server:</p>
          <Copyable id="forward" label="command">
            {guide.forward(ingestUrl(c, row.id))}
          </Copyable>
        </>
      )}
    </>
  )
}

/** The secret to enter without an account at the vendor. */
export function TrySecret({ guide, secret }: { guide: Guide | null; secret: string }) {
  return (
    <>
      <p>To try the connection, copy this random secret, paste it below and save it:</p>
      <Copyable id="example-secret" label="random secret">
        {secret}
      </Copyable>
      {guide?.forward && <p>If the command-line tool forwards events, enter the secret that it prints instead.</p>}
    </>
  )
}

/** The command that sends an example event. @param secret the one that the page offered; null on a public server */
export function SendExample({ c, row, secret }: About & { secret: string | null }) {
  if (!hasExample(c, row)) return null
  const preset = row.verification?.preset
  const title = vendorTitle(row.vendor)
  // The page shows no stored secret. It knows the one that it offered by its end.
  const known = secret !== null && row.secrets.some(({ hint }) => hint !== '' && secret.endsWith(hint)) ? secret : null
  return (
    <>
      <p>
        {known === null ? 'Put your signing secret into the first line, then run this' : 'Run this'} in the folder that
        you cloned. It signs an example event as {title} does, and sends it to this connection:
      </p>
      <Copyable id="send" label="command">
        {`${known === null ? `SIGNING_SECRET='your signing secret'\n` : ''}npm run send -- --example --vendor ${row.vendor}${preset ? ` --preset ${preset}` : ''} --connection ${row.id} --signing-secret ${known === null ? '"$SIGNING_SECRET"' : `'${known}'`} --url ${publicOrigin(c)}`}
      </Copyable>
      <p class="quiet">
        To send your own events, pass a folder of JSON files instead of <code>--example</code>.
      </p>
    </>
  )
}
