import type { VendorName } from '../../../vendors'
import type { Guide } from './guide'
import { paddle, stripe } from './guides-of-state'

const PASTE = 'Paste the ingest URL'

/** The guide of each vendor. */
export const GUIDES: Record<VendorName, Guide> = {
  paddle,
  stripe,
  adyen: {
    docs: 'https://docs.adyen.com/development-resources/webhooks/configure-and-manage',
    secret: 'vendor',
    steps: [
      <>
        In the Customer Area, open <strong>Developers → Webhooks</strong>, select <strong>+ Webhook</strong>, and add
        the <strong>Standard webhook</strong>.
      </>,
      <>
        {PASTE} under <strong>Server configuration</strong>, and choose <strong>JSON</strong> as the method.
      </>,
      <>Generate an HMAC key, copy it, and save the configuration.</>,
    ],
    where: <>The HMAC key that you generated for this webhook. The live Customer Area has a different one.</>,
    first: <>Make a test payment.</>,
    retries: null,
  },
  apple: {
    docs: 'https://developer.apple.com/help/app-store-connect/configure-in-app-purchase-settings/enter-server-urls-for-app-store-server-notifications',
    secret: 'account',
    steps: [
      <>
        In App Store Connect, open your app, and click <strong>App Information</strong> in the sidebar.
      </>,
      <>
        Under <strong>App Store Server Notifications</strong>, click <strong>Set Up URL</strong> below{' '}
        <strong>Production Server URL</strong> or <strong>Sandbox Server URL</strong>.
      </>,
      <>
        {PASTE}, and choose <strong>Version 2 Notifications</strong>.
      </>,
    ],
    where: (
      <>
        Apple has no secret for this: it signs with its own key. Enter what the notifications must be about. For the
        sandbox, that is the bundle ID of the app: <code>com.example.app</code>. For production, it is the bundle ID and
        the Apple ID of the app, joined with a colon: <code>com.example.app:1234567890</code>. Both are on the{' '}
        <strong>App Information</strong> page.
      </>
    ),
    first: <>Buy something in the sandbox, or request a test notification with the App Store Server API.</>,
    retries: 'Apple tries a refused delivery up to five more times: 1, 12, 24, 48 and 72 hours after the one before.',
  },
  braintree: {
    docs: 'https://articles.braintreepayments.com/control-panel/webhooks',
    secret: 'account',
    steps: [
      <>
        In the Control Panel, click the gear icon, choose <strong>API</strong>, and open the <strong>Webhooks</strong>{' '}
        tab.
      </>,
      <>
        Click <strong>Create New Webhook</strong>.
      </>,
      <>{PASTE} as the destination URL, and select the notifications to send.</>,
      <>
        Click <strong>Create Webhook</strong>.
      </>,
    ],
    where: (
      <>
        Copy the public key and the private key from the API keys of the same settings, and join them with a colon:{' '}
        <code>public_key:private_key</code>.
      </>
    ),
    first: (
      <>
        Click <strong>Check URL</strong> beside the webhook: it sends a test notification.
      </>
    ),
    retries: null,
  },
  chargebee: {
    docs: 'https://www.chargebee.com/docs/2.0/webhook_settings.html',
    secret: 'you',
    chosen: 'password',
    steps: [
      <>
        Open <strong>Settings → Configure Chargebee → API Keys and Webhooks</strong>, and switch to the{' '}
        <strong>Webhooks</strong> tab.
      </>,
      <>
        Click <strong>Add Webhook</strong>, give it a name, and paste the ingest URL.
      </>,
      <>
        Turn on <strong>Protect webhook URL with basic authentication</strong>, and enter a user name and a password.
      </>,
      <>Choose the API version v2, and leave all events selected.</>,
    ],
    where: (
      <>
        The user name and the password that you entered there, joined with a colon: <code>user:password</code>.
      </>
    ),
    first: <>Change something on your test site that triggers an event, such as a customer.</>,
    retries: null,
  },
  gocardless: {
    docs: 'https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks/',
    secret: 'vendor',
    steps: [
      <>
        In the dashboard, open <strong>Developers</strong>, click <strong>Create</strong>, and choose{' '}
        <strong>Webhook endpoint</strong>.
      </>,
      <>Give it a name, and paste the ingest URL as its URL.</>,
      <>Leave the secret empty: GoCardless then generates one.</>,
      <>
        Click <strong>Create webhook endpoint</strong>.
      </>,
    ],
    where: <>Click the new endpoint in the list, and copy its secret.</>,
    first: <>Create a mandate or a payment in the sandbox.</>,
    retries: null,
  },
  hmac: {
    docs: 'https://www.rfc-editor.org/rfc/rfc2104',
    secret: 'vendor',
    steps: [
      <>Open the webhook settings of the service that sends the events, and add a webhook or an endpoint.</>,
      <>{PASTE} as its URL.</>,
      <>Choose the events to send, and save it.</>,
    ],
    where: <>The secret that the sender signs with. Its documentation may call it a signing key or a webhook secret.</>,
    first: <>Send a test event from the service, if it has one.</>,
    retries: null,
  },
  lemonsqueezy: {
    docs: 'https://docs.lemonsqueezy.com/help/webhooks',
    secret: 'you',
    chosen: 'signing secret',
    steps: [
      <>
        In the dashboard, open <strong>Settings → Webhooks</strong> and add a webhook.
      </>,
      <>{PASTE} as the callback URL.</>,
      <>Enter a signing secret of 6 to 40 characters.</>,
      <>
        Select the events that begin with <code>subscription_</code> and <code>order_</code>, and save the webhook.
      </>,
    ],
    where: <>The signing secret that you entered there.</>,
    first: <>In test mode, open a subscription and simulate a webhook event for it.</>,
    retries: 'Lemon Squeezy sends a refused delivery up to three more times.',
  },
  paypal: {
    docs: 'https://developer.paypal.com/api/rest/webhooks/rest/',
    secret: 'vendor',
    steps: [
      <>In the Developer Dashboard, open your app. Live and sandbox have separate apps and webhooks.</>,
      <>In the settings of the app, add a webhook, and paste the ingest URL.</>,
      <>Choose the events to send, and save the webhook.</>,
    ],
    where: (
      <>
        PayPal has no secret for this: it signs with its own key. Enter the <strong>Webhook ID</strong>, which PayPal
        shows beside the webhook once it is saved.
      </>
    ),
    first: (
      <>
        Make a payment in the sandbox. Events from the <strong>webhooks simulator</strong> are refused: anyone can use
        it to send signed events to any address.
      </>
    ),
    retries: 'PayPal tries a refused delivery again up to 25 times within three days.',
  },
  polar: {
    docs: 'https://docs.polar.sh/docs/developers/webhooks',
    secret: 'vendor',
    steps: [
      <>
        In your organization’s settings, click <strong>Add Endpoint</strong>.
      </>,
      <>{PASTE} as the URL.</>,
      <>
        Leave the format on <strong>Raw</strong>.
      </>,
      <>
        Select the events of <code>customer</code>, <code>order</code> and <code>subscription</code>, and click{' '}
        <strong>Create</strong>.
      </>,
    ],
    where: <>The secret that Polar generated for this endpoint, as it is shown.</>,
    first: <>Make a purchase in Polar’s sandbox.</>,
    retries: 'Polar disables an endpoint after ten failed deliveries in a row.',
  },
  recurly: {
    docs: 'https://docs.recurly.com/recurly-subscriptions/docs/webhooks',
    secret: 'vendor',
    steps: [
      <>In Recurly’s Admin UI, open the webhooks and add an endpoint.</>,
      <>{PASTE} as the endpoint’s URL.</>,
      <>
        Choose <strong>JSON</strong> as the payload format: Recurly signs JSON webhooks only.
      </>,
      <>Subscribe the endpoint to the events that you need, and save it.</>,
    ],
    where: <>The secret key of this endpoint, on its page in Recurly.</>,
    first: <>Create an account on your sandbox site.</>,
    retries: 'Recurly tries a refused delivery up to ten times, at increasing intervals.',
  },
  revenuecat: {
    docs: 'https://www.revenuecat.com/docs/webhooks',
    secret: 'you',
    chosen: 'authorization header value',
    steps: [
      <>
        In your project, open <strong>Integrations</strong>, select <strong>+ New</strong>, and choose{' '}
        <strong>Webhooks</strong>.
      </>,
      <>Give it a name, and paste the ingest URL.</>,
      <>Set an authorization header value.</>,
      <>Choose whether to send events of sandbox purchases or of production purchases.</>,
      <>For billing state, set an API key on the page of this connection afterwards.</>,
    ],
    where: (
      <>
        The whole authorization header value that you entered there. If you also switch signing on, add the signing
        secret as <code>signing:</code> followed by the secret. The header alone is then refused.
      </>
    ),
    first: <>Make a purchase in the sandbox.</>,
    retries: 'RevenueCat tries a refused delivery up to five more times, after 5, 10, 20, 40 and 80 minutes.',
  },
  shopify: {
    docs: 'https://shopify.dev/docs/apps/webhooks/configuration/https',
    secret: 'account',
    steps: [
      <>
        For an app: add a webhook subscription with the ingest URL to <code>shopify.app.toml</code>, and run{' '}
        <code>shopify app deploy</code>.
      </>,
      <>
        For a store without an app: open <strong>Settings → Notifications → Webhooks</strong> in the store’s admin, and
        create a webhook with the ingest URL. Choose the format JSON.
      </>,
    ],
    where: (
      <>
        For an app, its client secret, in the app’s settings in the Dev Dashboard. For a store without an app, the
        signing key on the page of its webhooks.
      </>
    ),
    first: <>On a development store, change something that your subscription covers.</>,
    retries:
      'Shopify tries a refused delivery eight times within four hours. It deletes a subscription that was made through the Admin API after eight failures in a row.',
  },
  square: {
    docs: 'https://developer.squareup.com/docs/webhooks/step2subscribe',
    secret: 'vendor',
    steps: [
      <>
        In the Developer Console, open your application, and choose <strong>Webhooks → Subscriptions</strong>.
      </>,
      <>
        Choose <strong>Add subscription</strong>, and enter a name.
      </>,
      <>{PASTE} as the notification URL, exactly as it is here: Square signs it too.</>,
      <>
        Choose the API version and the events, and choose <strong>Save</strong>.
      </>,
    ],
    where: (
      <>
        Open the subscription. In <strong>Endpoint Details</strong>, choose <strong>Show</strong> in the Signature Key
        box, and copy the key.
      </>
    ),
    first: <>Make a payment in the sandbox, or create a customer there.</>,
    retries: 'Square tries a refused delivery again for up to 24 hours, then discards it.',
  },
  standard: {
    docs: 'https://www.standardwebhooks.com',
    secret: 'vendor',
    steps: [
      <>In the settings of the service that sends the webhooks, add an endpoint.</>,
      <>{PASTE} as its URL.</>,
      <>Choose the events to send, and save the endpoint.</>,
    ],
    where: <>The signing secret of this endpoint, or the public key if the service signs with Ed25519.</>,
    first: <>Send a test event from the service, if it has one.</>,
    retries: null,
  },
}

/** The guide of a vendor; null for a name that only another version of this service knows. */
export function guideOf(vendor: string): Guide | null {
  return Object.hasOwn(GUIDES, vendor) ? GUIDES[vendor as VendorName] : null
}
