CREATE TABLE `vendor_prices` (
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`ref` text NOT NULL,
	`name` text,
	`product` text,
	`product_name` text,
	`active` integer,
	PRIMARY KEY(`project_id`, `vendor`, `ref`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `vendor_runs` ADD `payment_methods` text DEFAULT 'default' NOT NULL;