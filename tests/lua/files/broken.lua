local x =
= 1
