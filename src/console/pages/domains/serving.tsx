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
        <p class="quiet">This deployment serves no hosts of projects. You can prove the name all the same.</p>
      </>
    )
  }
  return (
    <>
      <h2>Host</h2>
      <p>
        Let the name lead here with a CNAME record. The operator of the service must add it too, for its certificate.
      </p>
      <Copyable id="cname" label="CNAME record">
        {`${row.hostname} CNAME ${settings.surfaceTarget}`}
      </Copyable>
      <dl class="facts">
        <Fact name="Serves">
          {row.serving === null ? 'Nobody has looked yet.' : row.serving ? 'Yes' : `No. ${row.serving_detail}`}{' '}
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
