CREATE TABLE `billing_days` (
	`project_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`day` integer NOT NULL,
	`active` integer NOT NULL,
	`trialing` integer NOT NULL,
	`past_due` integer NOT NULL,
	`created` integer NOT NULL,
	`lost` integer NOT NULL,
	`failed` integer NOT NULL,
	`counted_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `livemode`, `day`)
) WITHOUT ROWID;
