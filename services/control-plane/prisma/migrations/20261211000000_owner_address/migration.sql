-- The owner of an organisation that was made without saying who has an address that is one, and that no mail reaches (RFC 2606).
UPDATE users SET email = 'owner@sluice.invalid' WHERE email = 'owner@localhost';
