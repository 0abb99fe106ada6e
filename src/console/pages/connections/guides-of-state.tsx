import { familiesOf, type VendorEndpoints } from '../../../vendors/endpoints'
import { paddleEndpoints } from '../../../vendors/paddle-endpoints'
import { stripeEndpoints } from '../../../vendors/stripe-endpoints'
import type { Guide } from './guide'

/* The guides of the vendors whose events become billing state. */

/** The types of events to choose. */
function Families({ of }: { of: VendorEndpoints }) {
  return familiesOf(of).map((type, at) => (
    <>
      {at > 0 && ', '}
      <code>{type}</code>
    </>
  ))
}

export const paddle: Guide = {
  docs: 'https://developer.paddle.com/webhooks/notification-destinations',
  secret: 'vendor',
  steps: [
    <>
      In Paddle, open <strong>Developer tools → Notifications</strong>, and click <strong>New destination</strong>.
    </>,
    <>Choose the webhook as the notification type, and paste the ingest URL.</>,
    <>
      Select these events. They become billing state here, or identify the consumer of a customer:{' '}
      <Families of={paddleEndpoints} />.
    </>,
    <>
      Click <strong>Save destination</strong>.
    </>,
  ],
  where: (
    <>
      Paddle generates a secret key for each destination. Open the destination that you added, and copy its secret key.
    </>
  ),
  first: <>Change a customer or subscription in the sandbox, or send a simulated event to the destination.</>,
  retries: null,
}

export const stripe: Guide = {
  docs: 'https://docs.stripe.com/workbench/event-destinations',
  secret: 'vendor',
  steps: [
    <>
      In the Stripe Dashboard, open <strong>Workbench</strong> and its <strong>Webhooks</strong> tab. Choose{' '}
      <strong>Create new destination</strong>.
    </>,
    <>
      Select these events. They become billing state here, or identify the consumer of a customer:{' '}
      <Families of={stripeEndpoints} />. If Stripe asks for a payload style, choose <strong>Snapshot</strong>: thin
      events need an API key too.
    </>,
    <>
      Choose <strong>Webhook</strong> as the type, paste the ingest URL as the endpoint URL, and click{' '}
      <strong>Create destination</strong>.
    </>,
  ],
  where: <>On the page of the new destination, reveal the signing secret and copy it.</>,
  first: (
    <>
      Create a customer’s subscription in test mode, or run <code>stripe trigger customer.subscription.created</code>.
    </>
  ),
  forward: (url) => `stripe listen --forward-to ${url}`,
  retries:
    'Stripe tries a refused delivery again for up to three days. In test mode, it tries three times over a few hours.',
}
