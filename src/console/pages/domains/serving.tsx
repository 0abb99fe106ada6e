import type { Context } from 'hono'
import type { Domain } from '../../../domains/store'
import type { HttpEnv } from '../../../http/context'
import { Copyable, Fact, Time } from '../../ui/parts'

/** How the host of a surface leads here, and whether it does. */
export function Serving({ c, row }: { c: Context<HttpEnv>; row: Domain }) {
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
