CREATE TABLE `vendor_keys` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`key` integer NOT NULL,
	`box` text NOT NULL,
	`hint` text NOT NULL,
	`livemode` integer NOT NULL,
	`account` text,
	`permissions` text NOT NULL,
	`state` text NOT NULL,
	`added_by` text NOT NULL,
	`checked_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`not_before` integer,
	PRIMARY KEY(`project_id`, `connection_id`),
	CONSTRAINT "vendor_keys_state" CHECK("vendor_keys"."state" IN ('ok', 'refused'))
) WITHOUT ROWID;
