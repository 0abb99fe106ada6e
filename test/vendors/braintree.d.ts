// braintree comes without types.
declare module 'braintree' {
  type Notification = { bt_signature: string; bt_payload: string }
  export class BraintreeGateway {
    constructor(config: { environment: unknown; merchantId: string; publicKey: string; privateKey: string })
    webhookTesting: { sampleNotification(kind: string, id: string): Notification }
    webhookNotification: { parse(signature: string, payload: string): Promise<{ kind: string; timestamp: string }> }
  }
  export const Environment: { Sandbox: unknown }
  export const WebhookNotification: { Kind: Record<string, string> }
}
